import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { alarmTable } from '../../../lib/alarms/alarm-table.ts';

const files = globSync(['*.md', 'docs/*.md', '{examples,local-aws,test,tools}/**/README.md'], {
  exclude: (name) => ['node_modules', 'venv'].includes(name),
}).sort();

/** The text of a document without code blocks. Their lines stay empty, so that line numbers are right. */
const withoutBlocks = (file: string) =>
  readFileSync(file, 'utf8').replaceAll(/^ *```.*?^ *```$/gms, (block) => block.replaceAll(/[^\n]/g, ''));

/** Anchors of a document: those that GitHub gives headings, and those written in HTML. */
function anchorsIn(file: string): Set<string> {
  const text = withoutBlocks(file);
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.matchAll(/^#+ (.+)$/gm)) {
    const words = heading.replaceAll(/\]\([^)]*\)/g, '').toLowerCase();
    anchors.add(words.replaceAll(/[^\p{L}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-'));
  }
  for (const [, name = ''] of text.matchAll(/\b(?:id|name)="([^"]+)"/g)) anchors.add(name);
  return anchors;
}

/** Links and pictures of a document that refer to files of this project, with their line. */
function linksIn(file: string): { url: string; line: number }[] {
  const link = /\]\(([^)\s]+)\)|\b(?:href|src|srcset)="([^"]+)"/g;
  return withoutBlocks(file)
    .split('\n')
    .flatMap((text, index) =>
      [...text.replaceAll(/`[^`]+`/g, 'code').matchAll(link)].map(([, inText, inHtml]) => ({
        url: inText ?? inHtml ?? '',
        line: index + 1,
      })),
    )
    .filter(({ url }) => !/^[a-z]+:/i.test(url));
}

/** @returns why a link is broken; undefined if it is not */
function fault(from: string, url: string): string | undefined {
  const [path = '', anchor] = decodeURI(url).split('#');
  // GitHub shows the README in `blob/<branch>/`, two folders below its page of a workflow.
  const [, workflow] = /^\.\.\/\.\.\/actions\/workflows\/([\w-]+\.yml)\b/.exec(path) ?? [];
  if (workflow !== undefined) return fault('', join('.github/workflows', workflow));
  const file = path === '' ? from : join(dirname(from), path);
  if (relative('', file).startsWith('..')) return 'leaves the project';
  if (!existsSync(file)) return `no file ${file}`;
  if (anchor === undefined || statSync(file).isDirectory() || !file.endsWith('.md')) return undefined;
  return anchorsIn(file).has(anchor) ? undefined : `${file} has no heading #${anchor}`;
}

test('every link leads to a file, and to a heading of it', () => {
  const broken = files.flatMap((file) =>
    linksIn(file).flatMap(({ url, line }) => {
      const reason = fault(file, url);
      return reason === undefined ? [] : [`${file}:${line}: ${url}: ${reason}`];
    }),
  );
  expect(broken).toEqual([]);
});

test('the runbook has a section for each alarm', () => {
  const sections = Object.values(alarmTable).map(({ section }) => section);
  expect([...anchorsIn('docs/operations.md')]).toEqual(expect.arrayContaining(sections));
});

/** Code refers to documents by path and anchor: in errors, comments and descriptions. */
test('every document and heading that code refers to exists', () => {
  const sources = globSync('{bin,events,lambda,lib,tools,test,examples,.ci}/**/*.{ts,tsx,js,css}', {
    exclude: (name) => ['node_modules', 'venv'].includes(name),
  });
  const broken = sources.flatMap((source) =>
    [
      ...readFileSync(source, 'utf8').matchAll(
        /\b(?:docs\/[a-z-]+|README|CONTRIBUTING|SECURITY)\.md(?:#[a-z0-9-]+)?/g,
      ),
    ].flatMap(([url]) => {
      const reason = fault('', url);
      return reason === undefined ? [] : [`${source}: ${reason}`];
    }),
  );
  expect(broken).toEqual([]);
});
