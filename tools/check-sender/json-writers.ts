/** A number with the digits that were sent: `1.0` stays `1.0`. */
class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

interface JsonForm {
  readonly comma: string;
  readonly colon: string;
  /** Indentation per level, with each value on its own line. @default everything on one line */
  readonly indent?: string;
  readonly quote: (text: string) => string;
  /** @default the digits as sent */
  readonly number?: (digits: string) => string;
  readonly literals?: Readonly<Record<string, string>>;
  readonly isSorted?: boolean;
}

const unicodeEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const quote = (text: string) => JSON.stringify(text);
const quoteAscii = (text: string) => quote(text).replaceAll(/[\u0080-\uFFFF]/g, unicodeEscape);
const quoteForHtml = (text: string) => quote(text).replaceAll(/[<>&\u2028\u2029]/g, unicodeEscape);
const quoteForPhp = (text: string) => quoteAscii(text).replaceAll('/', '\\/');
/** Python's `repr`: single quotation marks, unless only double ones avoid an escape. */
const quoteForPython = (text: string) =>
  text.includes("'") && !text.includes('"') ? `"${text}"` : `'${text.replaceAll("'", "\\'")}'`;

const COMPACT = { comma: ',', colon: ':', quote } as const;
const SPACED = { comma: ', ', colon: ': ', quote: quoteAscii } as const;
const SORTED_COMPACT: JsonForm = { ...COMPACT, isSorted: true };
const asNumber = (digits: string) => String(Number(digits));

/** How libraries write JSON, by their names for people. Another form for the same library follows it. */
const WRITERS: readonly (readonly [writer: string, form: JsonForm])[] = [
  ["JavaScript's JSON.stringify", { ...COMPACT, number: asNumber }],
  ['a compact writer, such as Jackson or Gson', COMPACT],
  ["Python's json.dumps", SPACED],
  ["Python's json.dumps without ASCII escapes", { ...SPACED, quote }],
  ["Python's json.dumps with sorted keys", { ...SPACED, isSorted: true }],
  ["Python's json.dumps with compact separators", { ...COMPACT, quote: quoteAscii }],
  ["PHP's json_encode", { ...COMPACT, quote: quoteForPhp }],
  ["PHP's json_encode", { ...COMPACT, quote: quoteForPhp, number: asNumber }],
  ["Go's json.Marshal", { ...COMPACT, quote: quoteForHtml }],
  ["Go's json.Marshal of a map", { ...SORTED_COMPACT, quote: quoteForHtml }],
  ['a writer that sorts keys', SORTED_COMPACT],
  ...['  ', '    ', '\t'].flatMap((indent): [string, JsonForm][] => {
    const width = indent === '\t' ? 'tabs' : `${indent.length} spaces`;
    const pretty = { ...COMPACT, colon: ': ', indent };
    return [
      [`a writer that indents by ${width}`, pretty],
      [`a writer that indents by ${width}`, { ...pretty, number: asNumber }],
      [`a writer that indents by ${width}`, { ...pretty, quote: quoteAscii }],
    ];
  }),
];

const PYTHON_TEXT: JsonForm = {
  ...SPACED,
  quote: quoteForPython,
  literals: { true: 'True', false: 'False', null: 'None' },
};

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
  if (value instanceof Digits) return form.number?.(value.text) ?? value.text;
  if (typeof value === 'string') return form.quote(value);
  if (typeof value !== 'object' || value === null) return form.literals?.[String(value)] ?? String(value);
  const parts = Array.isArray(value)
    ? value.map((one) => write(one, form, level + 1))
    : keysOf(value, form).map((key) => {
        return form.quote(key) + form.colon + write(Reflect.get(value, key), form, level + 1);
      });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (form.indent === undefined || parts.length === 0) return `${open}${parts.join(form.comma)}${close}`;
  const lineBreak = `\n${form.indent.repeat(level)}`;
  const inner = lineBreak + form.indent;
  return `${open}${inner}${parts.join(`,${inner}`)}${lineBreak}${close}`;
}

const keysOf = (value: object, { isSorted }: JsonForm) =>
  isSorted ? Object.keys(value).sort() : Object.keys(value);

/** The same JSON as other libraries write it, each with the name of its writer. */
export function* reserialised(text: string): Generator<readonly [writer: string, text: string]> {
  const value = parsed(text);
  if (value === undefined) return;
  for (const [writer, form] of WRITERS) {
    yield [writer, write(value, form)];
    if (form.indent !== undefined) yield [writer, `${write(value, form)}\n`];
  }
}

/** The notation of Python's `str()` for the value of a JSON text. */
export function pythonText(text: string): string | undefined {
  const value = parsed(text);
  return value === undefined ? undefined : write(value, PYTHON_TEXT);
}

/** The value at a top-level key, as a compact writer writes it. */
export function memberText(text: string, key: string): string | undefined {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || !(key in value)) return undefined;
  return write(Reflect.get(value, key), COMPACT);
}

/** A text that is equal for equal JSON, however it is written. Undefined if the text is not JSON. */
export function canonicalText(text: string): string | undefined {
  const value = parsed(text);
  return value === undefined ? undefined : write(value, { ...SORTED_COMPACT, number: asNumber });
}
