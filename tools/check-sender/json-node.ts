/** A JSON value that keeps how it was written: order of keys, duplicate keys, digits of numbers. */
export interface JsonNode {
  readonly kind: 'object' | 'array' | 'string' | 'literal';
  /** The value as it was written. */
  readonly text: string;
  /** Decoded content if the value is a string. Otherwise the same as `text`. */
  readonly value: string;
  /** Children of an object by key, of an array by index. Empty for other values. */
  readonly children: readonly (readonly [key: string, child: JsonNode])[];
}

/** Maximum depth. Deeper JSON is not an event, and would overflow the stack. */
const MAX_DEPTH = 200;
/** A token: a string, which may be unterminated, a punctuation mark, or a word. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]:,]|[^ \t\r\n{}[\]:,"]+/gs;

/**
 * Tokens of a text, separated by spaces and with empty strings: `{ "" : None }`. The text need not be JSON.
 */
export const outlineOf = (text: string) =>
  [...text.matchAll(TOKEN)].map(([token]) => (token.startsWith('"') ? '""' : token)).join(' ');

/** @returns undefined if the text is not JSON, or is nested too deeply */
export function parseJson(text: string): JsonNode | undefined {
  try {
    JSON.parse(text);
    const tokens = text.matchAll(TOKEN);
    const take = () => tokens.next().value as RegExpExecArray;
    return nodeAt(take(), take, 0);
  } catch {
    return undefined;
  }
}

const KINDS: Readonly<Record<string, JsonNode['kind']>> = { '{': 'object', '[': 'array', '"': 'string' };

/** Reads a value from tokens of a text that is known to be JSON. */
function nodeAt(
  { 0: token, index, input }: RegExpExecArray,
  take: () => RegExpExecArray,
  depth: number,
): JsonNode {
  if (depth > MAX_DEPTH) throw new RangeError('too deep');
  const kind = KINDS[token.charAt(0)] ?? 'literal';
  if (kind === 'string') return { kind, text: token, value: JSON.parse(token), children: [] };
  if (kind === 'literal') return { kind, text: token, value: token, children: [] };
  const children: [string, JsonNode][] = [];
  let next = take();
  while (!['}', ']'].includes(next[0])) {
    const key = kind === 'array' ? String(children.length) : JSON.parse(next[0]);
    // Skips the key and its colon.
    if (kind === 'object') next = take() && take();
    children.push([key, nodeAt(next, take, depth + 1)]);
    next = take();
    if (next[0] === ',') next = take();
  }
  const text = input.slice(index, next.index + 1);
  return { kind, text, value: text, children };
}

/** The child at a key or index. If a key occurs more than once, the last child, as in every common parser. */
export const memberOf = (node: JsonNode | undefined, key: string): JsonNode | undefined =>
  node?.children.findLast(([name]) => name === key)?.[1];

export const nodesIn = (node: JsonNode): JsonNode[] => [
  node,
  ...node.children.flatMap(([, child]) => nodesIn(child)),
];

/** The type of a value for people: `an object`, `null`. */
export function shapeOf({ kind, text }: JsonNode): string {
  if (kind === 'object' || kind === 'array') return `an ${kind}`;
  if (kind === 'string') return 'a string';
  if (text === 'null') return 'null';
  return text === 'true' || text === 'false' ? 'a boolean' : 'a number';
}

interface JsonForm {
  readonly comma: string;
  readonly colon: string;
  /** Indentation per level, with each value on its own line. @default everything on one line */
  readonly indent?: string;
  /** Whether a value stays on one line in spite of `indent`. @default never */
  readonly isOnOneLine?: (node: JsonNode, level: number) => boolean;
  /** White space inside the braces of an object that is on one line. */
  readonly padding?: string;
  readonly quote: (text: string) => string;
  readonly literals?: Readonly<Record<string, string>>;
  readonly isSorted?: boolean;
}

/** Writes JSON in a given form. Numbers keep their digits. */
export function writeJson(node: JsonNode, form: JsonForm, level = 0): string {
  const { kind, text, value, children } = node;
  if (kind === 'literal') return form.literals?.[text] ?? text;
  if (kind === 'string') return form.quote(value);
  // A parser keeps the last value of a duplicate key, at the position of the first.
  const kept = [...new Map(children)];
  // Sorts by UTF-16 code units. Python and PHP give the same order within the Basic Multilingual Plane.
  if (form.isSorted && kind === 'object') kept.sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = kept.map(([key, child]) => {
    const name = kind === 'array' ? '' : form.quote(key) + form.colon;
    return name + writeJson(child, form, level + 1);
  });
  const [open, close] = kind === 'array' ? '[]' : '{}';
  if (form.indent === undefined || parts.length === 0 || form.isOnOneLine?.(node, level)) {
    const padding = kind === 'object' && parts.length > 0 ? (form.padding ?? '') : '';
    const comma = form.indent === undefined ? form.comma : ', ';
    return `${open}${padding}${parts.join(comma)}${padding}${close}`;
  }
  const lineBreak = `\n${form.indent.repeat(level)}`;
  const inner = `${lineBreak}${form.indent}`;
  return `${open}${inner}${parts.join(`${form.comma}${inner}`)}${lineBreak}${close}`;
}

const escapeUnicode = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const escapeUpper = (character: string) => escapeUnicode(character).toUpperCase().replace('U', 'u');
const ascii = (literal: string) => literal.replaceAll(/[\u0080-\uFFFF]/g, escapeUnicode);
const slashes = (literal: string) => literal.replaceAll('/', '\\/');
const html = (literal: string) => literal.replaceAll(/[<>&\u2028\u2029]/g, escapeUnicode);
const dotNet = (literal: string) =>
  `"${literal.slice(1, -1).replaceAll('\\"', '\\u0022')}"`.replaceAll(/[<>&'+`\u0080-\uFFFF]/g, escapeUpper);

/** Ways in which libraries escape characters that JSON does not require to be escaped. */
const ESCAPES: Readonly<Record<string, (literal: string) => string>> = {
  '': (literal) => literal,
  ' and with \\u escapes for what is not ASCII': ascii,
  ' and with \\/ for each slash and \\u escapes': (literal) => slashes(ascii(literal)),
  ' and with \\/ for each slash': slashes,
  ' and with \\u escapes for < > &': html,
  " and with \\u escapes for < > & = '": (literal) => html(literal).replaceAll(/[=']/g, escapeUnicode),
  ' and with the \\u escapes of .NET': dotNet,
};

const TWO_SPACES = { comma: ',', colon: ': ', indent: '  ' };
const isInner = (_: JsonNode, level: number) => level > 0;
const isArray = ({ kind }: JsonNode) => kind === 'array';

/** Layouts of libraries and, at the end, of formatters. */
const LAYOUTS: Readonly<Record<string, Omit<JsonForm, 'quote'>>> = {
  'without white space': { comma: ',', colon: ':' },
  'with a space after each comma and colon': { comma: ', ', colon: ': ' },
  'indented by two spaces': TWO_SPACES,
  'indented by four spaces': { ...TWO_SPACES, indent: '    ' },
  'indented by tabs': { ...TWO_SPACES, indent: '\t' },
  'with spaces inside braces': { comma: ', ', colon: ': ', padding: ' ' },
  'indented, with inner values on one line': { ...TWO_SPACES, padding: ' ', isOnOneLine: isInner },
  'indented, with inner values on one line without padding': { ...TWO_SPACES, isOnOneLine: isInner },
  'indented, with arrays on one line': { ...TWO_SPACES, isOnOneLine: isArray },
};

/** Libraries that use a form by default, by layout and escapes. These forms are tried first. */
const WRITERS: Readonly<Record<string, string>> = {
  'with a space after each comma and colon and with \\u escapes for what is not ASCII': "Python's json.dumps",
  'with a space after each comma and colon': "Python's json.dumps with ensure_ascii=False",
  'without white space and with \\u escapes for what is not ASCII': "Python's json.dumps with separators",
  'without white space and with \\/ for each slash and \\u escapes': "PHP's json_encode",
  'without white space and with \\/ for each slash': "PHP's json_encode with JSON_UNESCAPED_UNICODE",
  'indented by four spaces and with \\/ for each slash and \\u escapes':
    "PHP's json_encode with JSON_PRETTY_PRINT",
  'without white space and with \\u escapes for < > &': "Go's json.Marshal",
  "without white space and with \\u escapes for < > & = '": "Java's Gson",
  'without white space and with the \\u escapes of .NET': "C#'s JsonSerializer",
};

const writerOf = (name: string) => WRITERS[name] ?? `a library ${name}`;

/**
 * All forms of JSON, the most likely first. `writer` completes the sentence "JSON as … writes it". If two
 * forms give the same text, the first one is reported.
 */
export const jsonForms: readonly { readonly writer: string; readonly form: JsonForm }[] = [false, true]
  .flatMap((isSorted) =>
    Object.entries(ESCAPES).flatMap(([escapeName, escapeText]) =>
      Object.entries(LAYOUTS).map(([layoutName, layout]) => ({
        writer: writerOf(layoutName + escapeName) + (isSorted ? ', its keys sorted,' : ''),
        form: { ...layout, isSorted, quote: (text: string) => escapeText(JSON.stringify(text)) },
      })),
    ),
  )
  .sort((a, b) => Number(a.writer.startsWith('a library')) - Number(b.writer.startsWith('a library')));

/** Form for comparisons: JSON texts with equal content become equal. */
export const canonicalForm: JsonForm = { comma: ',', colon: ':', quote: JSON.stringify, isSorted: true };

/** Form of Python's `str(…)` for a dictionary, also in an f-string. */
export const pythonForm: JsonForm = {
  comma: ', ',
  colon: ': ',
  literals: { true: 'True', false: 'False', null: 'None' },
  // Python uses double quotation marks only for a text that contains single and no double quotation marks.
  quote: (text) => {
    // Python and JSON escape these characters in the same way.
    const escaped = text.replaceAll(/[\\\n\r\t]/g, (sign) => JSON.stringify(sign).slice(1, -1));
    return text.includes("'") && !text.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
  },
};
