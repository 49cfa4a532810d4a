import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const FOLDER = 'tools/console/page';

const read = (ending: string) =>
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => readFileSync(`${FOLDER}/${file}`, 'utf8'))
    .join('\n');

const found = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, name]) => name));

const source = read('.tsx');
const rules = found(read('.css').replaceAll(/\{[^{}]*\}|"[^"]*"/g, ''), /\.([a-z][\w-]*)/g);

/** Beginnings of classes that the page composes, such as `tone-` of `tone-good`. */
const composed = [...found(source, /[\s`]([a-z]+-)\$\{/g)];

test('each rule is for a class that the page uses', () => {
  const unused = [...rules].filter(
    (name = '') =>
      !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(source) &&
      !composed.some((beginning = '-') => name.startsWith(beginning)),
  );
  expect(unused).toEqual([]);
});

test('each class of the page has a rule', () => {
  const classes = [...found(source, /\bclass="([^"]*)"/g)].flatMap((names = '') => names.split(' '));
  expect(classes.filter((name) => !rules.has(name))).toEqual([]);
});
