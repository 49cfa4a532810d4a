import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encode } from '@jridgewell/sourcemap-codec';
import fc from 'fast-check';
import { MAX_FRAMES, SourceMaps, sourceStack } from '../../lambda/source-stack.ts';

/** Of one line: from column 5 on line 84 of a method, from 15 on a package, from 25 on line 3 of no function. */
const MAP = {
  version: 3,
  sources: ['lambda/effects/cast.ts', 'node_modules/@smithy/core'],
  names: ['Cast.#put'],
  mappings: encode([
    [
      [5, 0, 83, 0, 0],
      [15, 1, 0, 0],
      [25, 0, 2, 0],
    ],
    // As a file that ends in a line break has. Node.js gives a name to what has none at the very end.
    [],
  ]),
};
const PUT = 'lambda/effects/cast.ts:84 in Cast.#put';
const SMITHY = 'node_modules/@smithy/core';

let folder: string;
let url: string;
let maps: SourceMaps;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'source-stack-'));
  url = `${pathToFileURL(folder).href}/`;
  const files = {
    'index.mjs': '',
    'index.mjs.map': JSON.stringify(MAP),
    'chunk-WITHOUT.mjs': '',
    'chunk-BROKEN.mjs': '',
    'chunk-BROKEN.mjs.map': '{"version":3,',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  maps = new SourceMaps(url);
});
afterAll(() => rm(folder, { recursive: true }));

function stackOf(message: string, frames: readonly string[], header = `Error: ${message}`): string[] {
  const stack = [header, ...frames.map((frame) => `    at ${frame}`)].join('\n');
  return sourceStack(Object.assign(new Error(message), { stack }), maps);
}

describe('a frame is shown', () => {
  test.each([
    ['of a function', (file: string) => `a.add (${file}:1:8)`, [PUT]],
    ['of an asynchronous function', (file: string) => `async r.#e (${file}:1:8)`, [PUT]],
    ['of a constructor', (file: string) => `new a (${file}:1:8)`, [PUT]],
    ['without a name', (file: string) => `${file}:1:8`, [PUT]],
    ['without a name, asynchronous', (file: string) => `async ${file}:1:8`, [PUT]],
    ['of a function that goes by another name', (file: string) => `Object.t [as u] (${file}:1:8)`, [PUT]],
    ['of a dependency', (file: string) => `a (${file}:1:18)`, [SMITHY]],
    ['outside of any function', (file: string) => `${file}:1:28`, ['lambda/effects/cast.ts:3']],
    ['before all that the map knows', (file: string) => `${file}:1:2`, ['index.mjs:1:2 (minified)']],
  ])('%s', (_, frame, expected) => {
    expect(stackOf('no', [frame(`${url}index.mjs`)])).toEqual(expected);
  });

  test.each(['chunk-WITHOUT.mjs', 'chunk-BROKEN.mjs'])('as it is where the map is %s', (file) => {
    expect(stackOf('no', [`a (${url}${file}:12:3456)`])).toEqual([`${file}:12:3456 (minified)`]);
  });
});

test.each([
  ['of Node.js', () => 'process.processTicksAndRejections (node:internal/process/task_queues:105:5)'],
  ['of another folder', () => 'a (file:///elsewhere/index.mjs:1:8)'],
  ['of a file that is none of the bundle', () => `a (${url}hanako.mjs:1:8)`],
  ['of a file below the bundle', () => `a (${url}hanako/index.mjs:1:8)`],
  ['of several calls', () => 'async Promise.all (index 0)'],
  ['of evaluated text', () => `eval (eval at a (${url}index.mjs:1:8), <anonymous>:1:1)`],
])('a frame %s is left out', (_, frame) => {
  expect(stackOf('no', [frame()])).toEqual([]);
});

test('frames in a row of one package are one', () => {
  const frames = [18, 8, 18, 19, 20, 8].map((column) => `a (${url}index.mjs:1:${column})`);
  expect(stackOf('no', frames)).toEqual([SMITHY, PUT, SMITHY, PUT]);
});

test('of many frames the innermost are shown', () => {
  const frames = Array.from({ length: 50 }, (_, index) => `a (${url}index.mjs:1:${index % 2 ? 18 : 28})`);
  const shown = stackOf('no', [`a (${url}index.mjs:1:8)`, ...frames]);
  expect(shown).toHaveLength(MAX_FRAMES);
  expect(shown[0]).toBe(PUT);
});

test('lines of a message that look like frames are not shown', () => {
  const message = `first\n    at a (${url}index.mjs:1:18)\n    at b (${url}index.mjs:1:28)`;
  expect(stackOf(message, [`a (${url}index.mjs:1:8)`])).toEqual([PUT]);
});

test('an error without a stack has no frames', () => {
  expect(sourceStack({ name: 'Error', message: 'no' }, maps)).toEqual([]);
});

test('whatever a message holds, nothing of it is shown', () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom('\n', '    at ', ' (', ')', ':', ':1:8', ':1:18)', '\n    at a (', '.mjs', '.mjs:1:8)'),
    fc.constant('index.mjs').map((file) => url + file),
    fc.constant(null).map(() => url),
  );
  const known = new Set([PUT, SMITHY, 'lambda/effects/cast.ts:3', 'index.mjs:1:1 (minified)']);
  fc.assert(
    fc.property(fc.array(part), fc.boolean(), (parts, isReplaced) => {
      const message = parts.join('');
      // Some libraries replace the message after the stack was made.
      const shown = stackOf(
        isReplaced ? 'replaced by a longer text '.repeat(20) : message,
        [`a (${url}index.mjs:1:8)`],
        `Error: ${message}`,
      );
      return shown.at(-1) === PUT && shown.every((text) => known.has(text));
    }),
  );
});
