import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillDocument } from '../../../tools/partner/api/page.ts';
import { licencesOf, packagesOf } from './licences.ts';

export const PAGE = 'docs/api/webhook.html';

const DOCUMENT = 'docs/api/openapi.json';
const MODULES = '.ci/api/node_modules';

/** What `redocly build-docs` puts into the head: the address of Redoc's script, and styles that it writes by itself. */
const LOADED_SCRIPT =
  /<script src="[^"]+" integrity="sha384-([^"]+)"[^>]*><\/script>(<style[\s\S]*?<\/style>)?/;

/** A picture that Redoc's menu loads. */
const LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/** The page of docs/api/openapi.json as `redocly build-docs` makes it, but with its script inside. */
export function makePage(): string {
  const built = buildDocs();
  const [loaded = '', integrity] = LOADED_SCRIPT.exec(built) ?? [];
  const script = inline(redoc(integrity).replaceAll(LOGO, 'data:,'));
  const page = built
    .replace(loaded, () => `<script>${script}</script>`)
    .replace('{licences}', () => inline(licencesOf(packagesOf(MODULES), MODULES)));
  const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = '']) => text);
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  return fillDocument(page.replace('{hashes}', hashes.join(' ')), readFileSync(DOCUMENT, 'utf8'));
}

function buildDocs(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-page-'));
  try {
    const output = join(folder, 'page.html');
    const template = join(import.meta.dirname, 'template.html');
    const args = ['build-docs', DOCUMENT, '--template', template, '--output', output];
    // It reports its use to its makers unless told otherwise.
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    execFileSync(process.execPath, [`${MODULES}/@redocly/cli/bin/cli.js`, ...args], { env, stdio: 'pipe' });
    return readFileSync(output, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Redoc's script. @throws Error if it is not the one that `redocly build-docs` names */
function redoc(integrity: string | undefined): string {
  const file = `${MODULES}/redoc/bundles/redoc.standalone.js`;
  const script = readFileSync(file, 'utf8');
  if (createHash('sha384').update(script).digest('base64') !== integrity) {
    throw new Error(`${file} is not the script that redocly build-docs names: install that version of redoc`);
  }
  return script;
}

/** What may stand in a `<script>`: neither its end nor what starts a comment in HTML, and the same in JavaScript. */
const inline = (script: string): string => script.replace(/<(?=\/script|!--)/gi, String.raw`\x3c`);

if (import.meta.main) writeFileSync(PAGE, makePage());
