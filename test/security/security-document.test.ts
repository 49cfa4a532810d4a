import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const document = readFileSync('docs/security.md', 'utf8');

/** What the document says shows something: a test file, and the name of a test in it. */
const shown = [...document.matchAll(/`((?:test|lambda|lib|bench|docs)\/[\w./-]+)`(?: “([^”]+)”)?/g)].map(
  ([, file = '', name]) => ({ file, name }),
);

test('docs/security.md names tests', () => {
  expect(shown.filter(({ name }) => name !== undefined).length).toBeGreaterThan(20);
});

test('every file that docs/security.md points to exists', () => {
  expect(shown.map(({ file }) => file).filter((file) => !existsSync(file))).toEqual([]);
});

test('every test that docs/security.md points to exists', () => {
  const missing = shown.filter(({ file, name }) => {
    if (name === undefined || !existsSync(file)) return false;
    // A name as it is written: after `test(` or `test.each(…)(`, in either kind of quotation marks.
    const source = readFileSync(file, 'utf8');
    return !["'", '"', '`'].some(
      (quote) => source.includes(`(${quote}${name}${quote}`) || source.includes(`  ${quote}${name}${quote},`),
    );
  });
  expect(missing).toEqual([]);
});

test('every test file that docs/security.md points to names the test, too', () => {
  expect(shown.filter(({ file, name }) => file.endsWith('.test.ts') && name === undefined)).toEqual([]);
});

test('no document says that the partner repeats another answer than 401 and 500', () => {
  const documents = ['README.md', ...readdirSync('docs').map((file) => join('docs', file))];
  const clauses = documents
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => readFileSync(file, 'utf8').split(/[.,;:|()]/))
    .filter((clause) => clause.includes('the partner repeats') && !/unless|not|only/.test(clause));
  const repeated = clauses.flatMap((clause) => clause.match(/\b[345]\d\d\b/g) ?? []);
  expect(new Set(repeated)).toEqual(new Set(['500']));
});
