/** A number with the digits that were sent: `1.0` stays `1.0`. */
class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

interface JsonForm {
  readonly comma?: string;
  readonly colon?: string;
  /** Indentation per level, with each value on its own line. @default everything on one line */
  readonly indent?: string;
  readonly quote?: (text: string) => string;
  /** Whether `1.0` is written as `1`. */
  readonly parsesNumbers?: boolean;
  readonly isSorted?: boolean;
}

const escaped = (text: string, characters: RegExp) =>
  JSON.stringify(text).replaceAll(
    characters,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
const ascii = (text: string) => escaped(text, /[\u0080-\uFFFF]/g);
const html = (text: string) => escaped(text, /[<>&\u2028\u2029]/g);
const php = (text: string) => ascii(text).replaceAll('/', '\\/');

const SPACED = { comma: ', ', colon: ': ' };

/** How libraries write JSON, by their names for people. */
const WRITERS: readonly (readonly [writer: string, form: JsonForm])[] = [
  ["JavaScript's JSON.stringify", { parsesNumbers: true }],
  ['a compact writer, such as Jackson or Gson', {}],
  ["Python's json.dumps", { ...SPACED, quote: ascii }],
  ["Python's json.dumps without ASCII escapes", SPACED],
  ["PHP's json_encode", { quote: php }],
  ["Go's json.Marshal", { quote: html }],
  ["Go's json.Marshal of a map", { quote: html, isSorted: true }],
  ['a writer that sorts keys', { isSorted: true }],
  ...['  ', '    ', '\t'].flatMap((indent): [string, JsonForm][] => [
    ['a writer that indents', { colon: ': ', indent }],
    ['a writer that indents', { colon: ': ', indent, parsesNumbers: true }],
    ['a writer that indents', { colon: ': ', indent, quote: ascii }],
  ]),
];

/** @returns undefined if the text is not JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''), (_key, value, context?: { readonly source: string }) =>
      typeof value === 'number' && context ? new Digits(context.source) : value,
    );
  } catch {
    return undefined;
  }
}

function write(value: unknown, form: JsonForm, level = 0): string {
  const { comma = ',', colon = ':', indent, quote = JSON.stringify, parsesNumbers, isSorted } = form;
  if (value instanceof Digits) return parsesNumbers ? String(Number(value.text)) : value.text;
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const keys = isSorted ? Object.keys(value).sort() : Object.keys(value);
  const parts = keys.map((key) => {
    const name = Array.isArray(value) ? '' : quote(key) + colon;
    return name + write(Reflect.get(value, key), form, level + 1);
  });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (indent === undefined || parts.length === 0) return `${open}${parts.join(comma)}${close}`;
  const lineBreak = `\n${indent.repeat(level)}`;
  return `${open}${lineBreak}${indent}${parts.join(`,${lineBreak}${indent}`)}${lineBreak}${close}`;
}

/** The same JSON as other libraries write it, each with the name of its writer. Nothing if the text is not JSON. */
export function* reserialised(text: string): Generator<readonly [writer: string, text: string]> {
  const value = parsed(text);
  if (value === undefined) return;
  for (const [writer, form] of WRITERS) {
    const written = write(value, form);
    yield [writer, written];
    if (form.indent !== undefined) yield [writer, `${written}\n`];
  }
}

/** A text that is equal for equal JSON, however it is written. Undefined if the text is not JSON. */
export function canonicalText(text: string): string | undefined {
  const value = parsed(text);
  return value === undefined ? undefined : write(value, { isSorted: true, parsesNumbers: true });
}
