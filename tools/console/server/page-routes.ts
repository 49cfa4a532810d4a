import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';
import { Hono } from 'hono';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { getMimeType } from 'hono/utils/mime';
import { ApiProblem, notFound } from './api-problem.ts';

const FOLDER = 'tools/console/page';

/** Folder of the webhook's API description, as JSON and as a page. */
const DOCS_FOLDER = 'docs/api';

const DOCS = ['webhook.html', 'openapi.json'];

/** Headers to repeat in a 304, because a browser replaces its cached headers with them (RFC 9111 §4.3.4). */
const retainedHeaders = [...RETAINED_304_HEADERS, 'content-security-policy'];

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
      if (body === undefined) throw notFound('The page is at /');
      return c.body(body, 200, headersOf(name));
    })
    .get('/api-docs/:name', etag({ retainedHeaders }), async (c) => {
      const name = c.req.param('name');
      if (!DOCS.includes(name)) throw notFound(`Only these files exist: ${DOCS.join(', ')}`);
      const file = `${DOCS_FOLDER}/${name}`;
      if (!existsSync(file)) throw notFound(`${file} is missing. Restore it: git checkout -- ${file}`);
      const text = await readFile(file, 'utf8');
      if (!name.endsWith('.html')) return c.body(text, 200, headersOf(name));
      c.header('content-security-policy', policyOf(file, text));
      return c.body(withWayBack(text), 200, headersOf(name));
    });
}

const headersOf = (name: string) => ({
  'content-type': getMimeType(name) ?? 'application/octet-stream',
  'cache-control': 'no-cache',
});

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

/** Builds the page's script, style and worker, and the chunks that they load, by file name. */
async function bundle(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    entryPoints: [
      { in: `${FOLDER}/main.tsx`, out: 'console' },
      { in: `${FOLDER}/style.css`, out: 'console' },
      { in: `${FOLDER}/shared-stream.ts`, out: 'shared-stream' },
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

const POLICY = /<meta http-equiv="content-security-policy" content="([^"]+)">/;

/**
 * Content-Security-Policy of the API page: the one in the page, plus what only a header can set. The page is
 * one file. Its scripts are allowed by their hashes, and may not connect to any server.
 */
function policyOf(file: string, page: string): string {
  const [, policy] = POLICY.exec(page) ?? [];
  if (policy !== undefined) return `${policy}; frame-ancestors 'none'`;
  throw new ApiProblem('no-policy', 500, 'No policy', `${file} has no content security policy`);
}

/** Adds a link back to the console. The link is plain HTML, because the policy allows no further script. */
const withWayBack = (page: string) =>
  page.replace(
    '\n<body>\n',
    `
<body>
<header style="padding: 12px 20px; font: 15px system-ui, sans-serif; border-bottom: 1px solid #d0d4db">
<a href="/" style="color: #1d4ab8">← Console</a>
</header>
`,
  );
