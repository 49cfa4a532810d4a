import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';
import { Hono } from 'hono';
import { etag } from 'hono/etag';
import { getMimeType } from 'hono/utils/mime';
import { ApiProblem } from './api-problem.ts';

const FOLDER = 'tools/console/page';

export function pageRoutes() {
  let bundled: ReturnType<typeof bundle> | undefined;

  return new Hono()
    .get('/', (c) => c.html(SHELL))
    .get('/:file', etag(), async (c) => {
      // A failed build is not kept, so that the next request builds again.
      bundled ??= bundle().catch((error) => {
        bundled = undefined;
        throw error;
      });
      const name = c.req.param('file');
      const body = (await bundled).get(name);
      if (body === undefined) throw new ApiProblem(404, 'The page is at /');
      const type = getMimeType(name) ?? 'application/octet-stream';
      return c.body(body, 200, { 'content-type': type, 'cache-control': 'no-cache' });
    });
}

const SHELL = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Partner webhooks</title>
<link rel="icon" href="/logo.svg">
<link rel="stylesheet" href="/console.css">
<script type="module" src="/console.js"></script>
</head>
<body>
<div id="console"></div>
</body>
</html>
`;

/** Builds the page's script and style, and the chunks that they load, by file name. */
async function bundle(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    entryPoints: [
      { in: `${FOLDER}/app.tsx`, out: 'console' },
      { in: `${FOLDER}/views.css`, out: 'console' },
    ],
    outdir: FOLDER,
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const files = outputFiles.map(({ path, text }) => [basename(path), text] as const);
  return new Map([...files, ['logo.svg', await readFile(`${FOLDER}/logo.svg`, 'utf8')]]);
}
