import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { alarmTable } from '../../../lib/alarms/alarm-table.ts';

const files = globSync(['*.md', 'docs/*.md', 'examples/**/README.md', 'tools/README.md']).sort();

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

test.each(files)('every link in %s leads to a file, and to a heading of it', (file) => {
  const broken = linksIn(file).flatMap(({ url, line }) => {
    const reason = fault(file, url);
    return reason === undefined ? [] : [`${file}:${line}: ${url}: ${reason}`];
  });
  expect(broken).toEqual([]);
});

test.each([
  ['docs/NONE.md', 'no file docs/NONE.md'],
  ['docs/partner.md#NONE', 'docs/partner.md has no heading #NONE'],
  ['#no-such', 'README.md has no heading #no-such'],
  ['../elsewhere', 'leaves the project'],
  ['../../actions/workflows/none.yml/badge.svg', 'no file .github/workflows/none.yml'],
])('a broken link is found: %s', (url, reason) => {
  expect(fault('README.md', url)).toBe(reason);
});

test('documents have links', () => {
  expect(files.flatMap(linksIn).length).toBeGreaterThan(50);
});

describe('the runbook', () => {
  test.each(Object.entries(alarmTable).map(([path, { section }]) => [path, section]))(
    'has a section for the alarm %s: #%s',
    (_, section) => {
      expect(anchorsIn('docs/operations.md')).toContain(section);
    },
  );
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
