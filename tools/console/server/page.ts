import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { build } from 'esbuild';

const FOLDER = 'tools/console/page';

/** The page's script and its style, each with the styles that it imports. */
const ENTRIES = [`${FOLDER}/main.tsx`, `${FOLDER}/style.css`];

const compress = promisify(gzip);

/** A file of the page. */
interface Asset {
  readonly type: string;
  readonly body: Uint8Array;
  readonly gzipped: Uint8Array;
  readonly etag: string;
}

/** @param token of the local stack; absent for a stage, where it is in the address alone */
export function shell(token: string | undefined): string {
  const meta = token === undefined ? '' : `\n<meta name="console-token" content="${token}">`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">${meta}
<title>Partner webhooks</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/console.css">
<script type="module" src="/console.js"></script>
</head>
<body>
<div id="console"></div>
</body>
</html>
`;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#2557d6"/><path d="M4 5l3 3-3 3M8.5 11H12" fill="none" stroke="#fff" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** The page's files, bundled when the first of them is asked for. */
export class Page {
  #assets: Promise<ReadonlyMap<string, Asset>> | undefined;

  /** @throws BuildFailure of esbuild; the next call tries again */
  async asset(path: string): Promise<Asset | undefined> {
    this.#assets ??= bundle();
    try {
      return (await this.#assets).get(path);
    } catch (error) {
      this.#assets = undefined;
      throw error;
    }
  }
}

async function bundle(): Promise<ReadonlyMap<string, Asset>> {
  const { outputFiles } = await build({
    entryPoints: ENTRIES.filter((file) => existsSync(file)),
    outdir: FOLDER,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const text = (extension: string) =>
    outputFiles
      .filter(({ path }) => path.endsWith(extension))
      .map(({ text }) => text)
      .join('');
  return new Map([
    ['/console.js', await asset('text/javascript; charset=utf-8', text('.js'))],
    ['/console.css', await asset('text/css; charset=utf-8', text('.css'))],
    ['/icon.svg', await asset('image/svg+xml', ICON)],
  ]);
}

async function asset(type: string, text: string): Promise<Asset> {
  const body = Buffer.from(text);
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  return { type, body, gzipped: await compress(body), etag };
}
