/**
 * Makes docs/api/webhook.html: the page that `redocly build-docs` makes of docs/api/openapi.json, but with its script
 * embedded.
 * - node .ci/api/make-page.ts
 * - node .ci/api/make-page.ts --check fails if the page differs
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillDocument } from '../../tools/api/page.ts';

const PAGE = 'docs/api/webhook.html';
const DOCUMENT = 'docs/api/openapi.json';
const MODULES = '.ci/api/node_modules';

/** Parts that `redocly build-docs` writes into the page's head: the address of Redoc's script, and styles. */
const LOADED_SCRIPT =
  /<script src="[^"]+" integrity="sha384-([^"]+)"[^>]*><\/script>(<style[\s\S]*?<\/style>)?/;

/** Image in Redoc's menu, which would be loaded from another server. */
const LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/**
 * Licences of packages whose code Redoc's build adds to Redoc's script. These packages are not installed here, because
 * they depend on half of webpack.
 */
const LOADERS: Readonly<Record<string, string>> = {
  'css-loader': 'MIT, Copyright JS Foundation and other contributors',
  'style-loader': 'MIT, Copyright JS Foundation and other contributors',
  '@redocly/workerize-loader': 'MIT, Copyright Jason Miller',
};

function makePage(): string {
  const built = buildDocs();
  const [loaded = '', integrity] = LOADED_SCRIPT.exec(built) ?? [];
  const script = inline(redoc(integrity).replaceAll(LOGO, 'data:,'));
  const page = built
    .replace(loaded, () => `<script>${script}</script>`)
    .replace('{licences}', () => inline(licencesOf(packagesInScript())));
  const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = '']) => text);
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  return fillDocument(page.replace('{hashes}', hashes.join(' ')), readFileSync(DOCUMENT, 'utf8'));
}

function buildDocs(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-page-'));
  try {
    const output = join(folder, 'page.html');
    const template = join(import.meta.dirname, 'page.html');
    const args = ['build-docs', DOCUMENT, '--template', template, '--output', output];
    execFileSync(process.execPath, [`${MODULES}/@redocly/cli/bin/cli.js`, ...args], { stdio: 'pipe' });
    return readFileSync(output, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * The source of Redoc's script.
 * @throws Error if the installed version of Redoc is not the version that `redocly build-docs` refers to
 */
function redoc(integrity: string | undefined): string {
  const file = `${MODULES}/redoc/bundles/redoc.standalone.js`;
  const script = readFileSync(file, 'utf8');
  if (createHash('sha384').update(script).digest('base64') !== integrity) {
    throw new Error(`${file} is not the script that redocly build-docs names: install that version of redoc`);
  }
  return script;
}

/** Names of Redoc and of every package in its script, according to the source maps. */
function packagesInScript(): readonly string[] {
  const bundles = join(MODULES, 'redoc/bundles');
  const maps = globSync('{redoc.standalone,*.worker}.js.map', { cwd: bundles });
  const sources = maps.flatMap(
    (map): string[] => JSON.parse(readFileSync(join(bundles, map), 'utf8')).sources,
  );
  const names = sources.flatMap(
    (source) => [...source.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)?.[1] ?? [],
  );
  return [...new Set(['redoc', ...names])].sort();
}

/** The notices that the packages' licences require, each text once. Some packages have none. */
function licencesOf(packages: readonly string[]): string {
  const holders = new Map<string, string[]>();
  for (const name of packages) {
    const loader = LOADERS[name];
    const { title, text } =
      loader === undefined ? noticeOf(name) : { title: `${name} (${loader})`, text: '' };
    holders.set(text, [...(holders.get(text) ?? []), title]);
  }
  return [...holders].map(([text, titles]) => `${titles.join('\n')}\n\n${text}`.trim()).join('\n\n----\n\n');
}

/**
 * Licence of a package, and the package's notice (Apache-2.0, 4.d). If a package offers several licences, the first is
 * taken; the others have names such as `LICENSE-MPL`.
 * @throws Error if the package is not installed
 */
function noticeOf(name: string): { readonly title: string; readonly text: string } {
  const folder = [join(MODULES, 'redoc/node_modules', name), join(MODULES, name)].find(existsSync);
  if (folder === undefined) throw new Error(`${name} is in Redoc’s script: install it for its licence`);
  const { version, license = 'see the text' } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice)(\.\w+)?$/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return { title: `${name} ${version} (${license})`, text: texts.join('\n\n') };
}

/** Escapes `</script` and `<!--` in JavaScript, so that a page can contain the script. Its meaning stays the same. */
const inline = (script: string): string => script.replace(/<(?=\/script|!--)/gi, String.raw`\x3c`);

const page = makePage();
if (process.argv[2] !== '--check') {
  writeFileSync(PAGE, page);
} else if (readFileSync(PAGE, 'utf8') !== page) {
  console.error(`${PAGE} is not what Redocly makes. Make it: .ci/check-api --page`);
  process.exitCode = 1;
}
