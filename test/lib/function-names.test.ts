import { describe, expect, test } from '@jest/globals';
import { functionNames } from '../../lib/release/function-names.ts';

/** The names of the functions around each call of `here`. */
function namesIn(source: string): (string | undefined)[] {
  const nameAt = functionNames(source);
  return source
    .split('\n')
    .flatMap((text, line) => [...text.matchAll(/here\(/g)].map(({ index }) => nameAt(line, index)));
}

describe('a call is in', () => {
  test.each([
    ['a function', 'export async function write(): Promise<void> { await here(); }', 'write'],
    ['a variable’s arrow function', 'const write = async (): Promise<void> => here();', 'write'],
    ['a variable’s function', 'const write = function () { here(); };', 'write'],
    ['a method', 'export class Cast { async add<T>(this: T) { here(); } }', 'Cast.add'],
    ['a private method', 'class Cast { #put(): void { here(); } }', 'Cast.#put'],
    ['a static method', 'class Cast { static from() { return here(); } }', 'Cast.from'],
    ['an accessor', 'class Cast { get table() { return here(); } }', 'Cast.table'],
    ['a constructor', 'class Cast { constructor() { here(); } }', 'new Cast'],
    ['a property’s arrow function', 'class Cast { readonly #put = () => here(); }', 'Cast.#put'],
    ['an object’s method', 'const store = { get() { return here(); } };', 'get'],
    ['an object’s arrow function', 'use({ onError: async (error: unknown) => here(error) });', 'onError'],
    ['the function around a callback', 'function write() { return each(async () => here()); }', 'write'],
    ['the innermost of several', 'function outer() { function inner() { here(); } }', 'inner'],
    ['the method of an object within a method', 'class A { b() { return { c: () => here() }; } }', 'c'],
    ['none, outside', 'here();', undefined],
    ['none, in a callback outside', 'export const handler = consume("e", () => here());', undefined],
  ])('%s', (_, source, expected) => {
    expect(namesIn(source)).toEqual([expected]);
  });
});

test('a function ends where it ends', () => {
  const source = ['function a() {', '  here();', '}', 'here();', 'const b = () => here(); here();'].join(
    '\n',
  );
  expect(namesIn(source)).toEqual(['a', undefined, 'b', undefined]);
});
