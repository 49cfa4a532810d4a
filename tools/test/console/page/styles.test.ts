import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const FOLDER = 'tools/console/page';

const read = (ending: string) =>
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => readFileSync(`${FOLDER}/${file}`, 'utf8'))
    .join('\n');

const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);

const source = read('.tsx');
const rules = new Set(found(read('.css').replaceAll(/\{[^{}]*\}|"[^"]*"/g, ''), /\.([a-z][\w-]*)/g));

const EXPRESSION = String.raw`\$\{(?:[^{}]|\{[^{}]*\})*\}`;

/**
 * Texts in quotes, and the parts of template strings between expressions. If a part ends with `-`, the `$`
 * after it is included.
 */
const literals = (code: string) => [
  ...found(code, /'([^'\n]*)'/g),
  ...found(code, /"([^"\n]*)"/g),
  ...found(code, /`([^`]*)`/g).map((text) =>
    text.replaceAll(new RegExp(EXPRESSION, 'g'), '$').replaceAll(/(?<!-)\$/g, ' '),
  ),
];

const words = (texts: readonly string[]) => texts.flatMap((text) => text.split(/\s+/));

/** Expressions in attributes and properties that contain classes, without values that are only compared. */
const expressions = found(
  source,
  /\b(?:class|style|className)(?:=\{|: |\s=\s)((?:[^{}\n]|\{[^{}]*\})*)/g,
).map((code) => code.replaceAll(new RegExp(`[=!]== '[^']*'|[a-z]+-${EXPRESSION}`, 'g'), ''));

const isName = (word: string) => /^[a-z][\w-]*$/.test(word);

/** First parts of composed class names, such as `tone-` of `tone-good`. */
const composed = words(literals(source)).flatMap((word) => /^([a-z]+-)\$/.exec(word)?.[1] ?? []);

test('each rule is for a class that the page uses', () => {
  const used = new Set(words(literals(source)));
  const unused = [...rules].filter(
    (name) => !used.has(name) && !composed.some((beginning) => name.startsWith(beginning)),
  );
  expect(unused).toEqual([]);
});

test('each class of the page has a rule', () => {
  const classes = words([...found(source, /\bclass="([^"]*)"/g), ...expressions.flatMap(literals)]);
  expect([...new Set(classes)].filter((name) => isName(name) && !rules.has(name))).toEqual([]);
});
