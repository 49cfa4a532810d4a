import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signBody } from '../support/partner.ts';
import { bodyOf, type SigningVector, signingVectors } from '../support/signing-vectors.ts';

/**
 * The samples of `examples/signing/`. The commands are those in the README there, typed in the sample's folder.
 * `version` prints the installed version, and fails if none is installed. `build` compiles.
 */
const signingSamples: readonly {
  language: string;
  folder: string;
  version: string;
  build?: string;
  run: string;
}[] = [
  { language: 'Node.js', folder: 'node', version: 'node --version', run: 'node sign-and-post.mjs' },
  { language: 'Python', folder: 'python', version: 'python3 --version', run: 'python3 sign_and_post.py' },
  // PHP's curl is a separate package.
  { language: 'PHP', folder: 'php', version: "php -r 'curl_version();'", run: 'php sign-and-post.php' },
  { language: 'Ruby', folder: 'ruby', version: 'ruby --version', run: 'ruby sign_and_post.rb' },
  { language: 'Go', folder: 'go', version: 'go version', build: 'go build', run: './sign-and-post' },
  {
    language: 'Java',
    folder: 'java',
    version: 'javac -version',
    build: 'javac SignAndPost.java',
    run: 'LC_ALL=C.UTF-8 java SignAndPost',
  },
  {
    language: 'curl with openssl',
    folder: 'curl',
    version: 'openssl version && curl --version',
    run: 'bash sign-and-post.sh',
  },
];

/**
 * CI requests `all`: also compiled languages and every vector, and a missing tool is a failure.
 * Otherwise a selection that takes a few seconds.
 */
const all = process.env.SIGNING_SAMPLES === 'all';

/** Vectors that reveal the usual mistakes of a sample: trimmed bytes, bytes as text, a truncated key. */
const TELLING_VECTORS = ['crlf', 'all-bytes', 'key-beyond-the-bmp'];

/** Timeout of a build, in milliseconds. Go's first build compiles its standard library. */
const BUILD_PATIENCE = 120_000;

const vectorOf = (wanted: string): SigningVector => {
  const found = signingVectors.vectors.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`events/signing-vectors.json has no vector ${wanted}`);
  return found;
};

const vectors = all ? signingVectors.vectors : TELLING_VECTORS.map(vectorOf);
const { secret } = vectorOf('key-not-ascii');

/** A body as saved by an editor on Windows: parsing and writing the JSON again would change the bytes. */
const BODY = Buffer.from(
  '{\r\n  "event": "shop.updated",\r\n  "data": {"shop_id": "shop-1", "name": "🍣"},\r\n' +
    '  "timestamp": "2026-01-31T09:00:00Z"\r\n}\r\n',
);

/** A sample must encode the secret in UTF-8, whatever the locale. */
const environment = { ...process.env, LC_ALL: 'C' };

const isThere = ({ version }: { readonly version: string }) =>
  spawnSync(version, { shell: true, env: environment, stdio: 'ignore' }).status === 0;

const runnable = signingSamples.filter((sample) => all || (sample.build === undefined && isThere(sample)));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signing-samples-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * A receiver: 200 and the body's bytes, or 401 if they are not signed. Below other paths, a server that is none: a
 * redirect, and an answer in another charset.
 */
async function serve(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.url === '/moved') response.writeHead(302, { location: '/' }).end();
    else if (request.url === '/broken')
      response.writeHead(502).end(Buffer.from('Passerelle d\xe9fectueuse', 'latin1'));
    else if (request.headers['x-webhook-signature'] === signBody(body, secret))
      response.end(body.toString('base64'));
    else response.writeHead(401).end('no');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function type(cwd: string, command: string, { key, body }: { key?: string; body?: Uint8Array } = {}) {
  const child = spawn(command, { shell: true, cwd, env: { ...environment, WEBHOOK_SECRET: key } });
  // A command that fails at once does not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(body);
  const [out, problem, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, out, problem };
}

describe.each(runnable)('the sample in $language', ({ folder: name, build, run }) => {
  const cwd = () => join(folder, name);
  const post = (url: string, key = secret) => type(cwd(), `${run} ${url}`, { key, body: BODY });

  beforeAll(async () => {
    // The copy is outside our package.json, so that the test uses the sample as a person would copy it.
    cpSync(join('examples/signing', name), cwd(), { recursive: true });
    if (build !== undefined) expect(await type(cwd(), build)).toEqual({ code: 0, out: '', problem: '' });
  }, BUILD_PATIENCE);

  test('makes the signatures of the vectors', async () => {
    const signed = vectors.map(async (vector) => {
      const { out, problem } = await type(cwd(), run, { key: vector.secret, body: bodyOf(vector) });
      return [vector.name, out + problem];
    });
    expect(await Promise.all(signed)).toEqual(vectors.map((one) => [one.name, `${one.accepted.hex}\n`]));
  });

  test('posts a delivery that is accepted, byte for byte', async () => {
    await using server = await serve();
    const out = `200 ${BODY.toString('base64')}\n`;
    expect(await post(`${server.url}/`)).toEqual({ code: 0, out, problem: '' });
  });

  test.each([
    ['with the answer, because the secret is another', '/', '401 no\n', 'another-secret'],
    ['at a redirect, which it does not follow', '/moved', '302 \n', secret],
    ['with the status of an answer in another charset', '/broken', '502 Pass', secret],
  ])('fails %s', async (_, path, expected, key) => {
    await using server = await serve();
    const { code, out } = await post(server.url + path, key);
    expect({ code, out: out.slice(0, expected.length) }).toEqual({ code: 1, out: expected });
  });

  test.each([
    ['nothing answers', 'http://127.0.0.1:1/', secret],
    ['the address is not one of HTTP', 'file:///dev/null', secret],
    ['there is no secret', '', ''],
  ])('says so in one line if %s', async (_, url, key) => {
    const problem = expect.stringMatching(/^[^\n]+\n$/);
    expect(await post(url, key)).toEqual({ code: 1, out: '', problem });
  });
});

const readme = readFileSync('examples/signing/README.md', 'utf8');

test.each(signingSamples)('the README says how to run $language', ({ folder: name, build, run }) => {
  const row = readme.split('\n').find((line) => line.includes(`(${name}/`));
  expect(row).toContain(`\`${build === undefined ? '' : `${build} && `}${run}\``);
});
