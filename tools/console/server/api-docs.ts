import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { notFound, Problem } from './problem.ts';
import type { Answer } from './route.ts';

/** Where the description of the endpoint is, with its page. */
const FOLDER = 'docs/api';

const PREFIX = '/api-docs/';

const TYPES: Readonly<Record<string, string>> = {
  'webhook.html': 'text/html; charset=utf-8',
  'openapi.json': 'application/json',
};

const POLICY = /<meta http-equiv="content-security-policy" content="([^"]+)">/;

export const isApiDocs = (path: string): boolean => path.startsWith(PREFIX);

/**
 * A description or its page: `/api-docs/webhook.html`. A page is one file with its scripts inside, and has a policy that
 * lets those alone run, by their hashes, and connects to nowhere.
 * @throws Problem where there is no such file, or a page without a policy
 */
export async function answerApiDocs(path: string, knownEtag: string | undefined): Promise<Answer> {
  const name = path.slice(PREFIX.length);
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (type === undefined) throw notFound(`Here are only: ${Object.keys(TYPES).join(', ')}`);
  const file = `${FOLDER}/${name}`;
  if (!existsSync(file)) throw notFound(`${file} is not there. Bring it back: git checkout -- ${file}`);
  const text = await readFile(file, 'utf8');
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  // With a 304, too: a browser takes its headers over into what it has kept (RFC 9111 §4.3.4).
  const headers = {
    'cache-control': 'no-cache',
    etag,
    ...(name.endsWith('.html') && { 'content-security-policy': policyOf(file, text) }),
  };
  if (knownEtag === etag) return { status: 304, headers, body: '' };
  return { headers: { ...headers, 'content-type': type }, body: text };
}

/** What the page itself says, and what only a header can. */
function policyOf(file: string, page: string): string {
  const [, policy] = POLICY.exec(page) ?? [];
  if (policy === undefined) {
    throw new Problem(
      'no-policy',
      500,
      'No policy',
      `${file} has no content security policy, and is not shown`,
    );
  }
  return `${policy}; frame-ancestors 'none'`;
}
