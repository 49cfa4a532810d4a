/** JSON as it was written: keys in their order and including duplicates, numbers by their digits. */
export type JsonNode = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'object'; readonly entries: Entries }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly value: string }
  /** A number, `true`, `false` or `null`. */
  | { readonly kind: 'literal'; readonly text: string }
);

type Entries = readonly (readonly [key: string, value: JsonNode])[];

/** Maximum nesting. Deeper JSON is not an event, and would overflow the stack. */
const MAX_DEPTH = 200;

/** A string, even unterminated, a punctuation mark or a word, with the white space before it. */
const TOKEN = /[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]:,]|[^ \t\r\n{}[\]:,"]+)/gs;

interface Token {
  readonly text: string;
  readonly end: number;
}

/** The tokens of a text, whether or not it is JSON. */
function* tokensOf(text: string): Generator<Token, undefined> {
  for (const { 0: match, 1: token = '', index } of text.matchAll(TOKEN)) {
    yield { text: token, end: index + match.length };
  }
  return undefined;
}

/** The tokens of a text, separated by spaces, with empty strings: `{ "" : None }`. */
export const outlineOf = (text: string) =>
  [...tokensOf(text)].map((token) => (token.text.startsWith('"') ? '""' : token.text)).join(' ');

/** @returns undefined if the text is not JSON, or nested too deeply */
export function parseJson(text: string): JsonNode | undefined {
  try {
    JSON.parse(text);
    const tokens = tokensOf(text);
    const take = () => {
      const { value } = tokens.next();
      if (value === undefined) throw new SyntaxError('ends early');
      return value;
    };
    return nodeAt(take(), take, 0);
  } catch {
    return undefined;
  }
}

/** Reads a value of a text that is known to be JSON. */
function nodeAt({ text, end }: Token, take: () => Token, depth: number): JsonNode {
  if (depth > MAX_DEPTH) throw new RangeError('too deep');
  const start = end - text.length;
  if (text.startsWith('"')) return { kind: 'string', value: JSON.parse(text) as string, start, end };
  if (text !== '{' && text !== '[') return { kind: 'literal', text, start, end };
  const entries: [string, JsonNode][] = [];
  const items: JsonNode[] = [];
  let token = take();
  while (token.text !== '}' && token.text !== ']') {
    if (text === '[') {
      items.push(nodeAt(token, take, depth + 1));
    } else {
      take(); // The colon.
      entries.push([JSON.parse(token.text) as string, nodeAt(take(), take, depth + 1)]);
    }
    token = take();
    if (token.text === ',') token = take();
  }
  return text === '['
    ? { kind: 'array', items, start, end: token.end }
    : { kind: 'object', entries, start, end: token.end };
}

/** The value of a key or index. For duplicate keys the last one, as in every common parser. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  if (node?.kind === 'array') return node.items[Number(key)];
  return node?.kind === 'object' ? node.entries.findLast(([name]) => name === key)?.[1] : undefined;
}

export function nodesIn(node: JsonNode): JsonNode[] {
  if (node.kind === 'object') return [node, ...node.entries.flatMap(([, value]) => nodesIn(value))];
  return node.kind === 'array' ? [node, ...node.items.flatMap(nodesIn)] : [node];
}

/** In words: `an object`, `null`. */
export function shapeOf(node: JsonNode): string {
  if (node.kind === 'object') return 'an object';
  if (node.kind === 'array') return 'an array';
  if (node.kind === 'string') return 'a string';
  if (node.text === 'null') return 'null';
  return node.text === 'true' || node.text === 'false' ? 'a boolean' : 'a number';
}

interface JsonForm {
  readonly comma: string;
  readonly colon: string;
  /** White space per level, with each value on its own line. @default all on one line */
  readonly indent?: string;
  /** Whether a value is on one line in spite of `indent`. @default none */
  readonly isOnOneLine?: (node: JsonNode, level: number) => boolean;
  /** Inside the braces of an object on one line. @default nothing */
  readonly padding?: string;
  readonly quote: (text: string) => string;
  /** @default as they were written */
  readonly literals?: Readonly<Record<string, string>>;
  readonly isSorted?: boolean;
}

/** Writes JSON in the given form. Numbers keep their digits. */
export function writeJson(node: JsonNode, form: JsonForm, level = 0): string {
  if (node.kind === 'literal') return form.literals?.[node.text] ?? node.text;
  if (node.kind === 'string') return form.quote(node.value);
  const parts =
    node.kind === 'array'
      ? node.items.map((item) => writeJson(item, form, level + 1))
      : keptEntries(node.entries, form.isSorted).map(
          ([key, value]) => `${form.quote(key)}${form.colon}${writeJson(value, form, level + 1)}`,
        );
  const [open, close] = node.kind === 'array' ? '[]' : '{}';
  if (form.indent === undefined || parts.length === 0 || form.isOnOneLine?.(node, level)) {
    const padding = node.kind === 'object' && parts.length > 0 ? (form.padding ?? '') : '';
    const comma = form.indent === undefined ? form.comma : ', ';
    return `${open}${padding}${parts.join(comma)}${padding}${close}`;
  }
  const lineBreak = `\n${form.indent.repeat(level)}`;
  const inner = `${lineBreak}${form.indent}`;
  return `${open}${inner}${parts.join(`${form.comma}${inner}`)}${lineBreak}${close}`;
}

/** A parser keeps the last value of a duplicate key, at the position of the first. */
function keptEntries(entries: Entries, isSorted = false): Entries {
  const all = [...new Map(entries)];
  // By code units: Python and PHP sort the same way within the Basic Multilingual Plane.
  return isSorted ? all.sort(([a], [b]) => (a < b ? -1 : 1)) : all;
}

const unicodeEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const upperEscape = (character: string) => unicodeEscape(character).toUpperCase().replace('U', 'u');
const ascii = (literal: string) => literal.replaceAll(/[\u0080-\uFFFF]/g, unicodeEscape);
const slashes = (literal: string) => literal.replaceAll('/', '\\/');

/** Characters that libraries escape in a string although JSON does not require it. */
const ESCAPES: Readonly<Record<string, (literal: string) => string>> = {
  '': (literal) => literal,
  ' and with \\u escapes for what is not ASCII': ascii,
  ' and with \\/ for each slash and \\u escapes': (literal) => slashes(ascii(literal)),
  ' and with \\/ for each slash': slashes,
  ' and with \\u escapes for < > &': (literal) => literal.replaceAll(/[<>&\u2028\u2029]/g, unicodeEscape),
  " and with \\u escapes for < > & = '": (literal) =>
    literal.replaceAll(/[<>&='\u2028\u2029]/g, unicodeEscape),
  ' and with the \\u escapes of .NET': (literal) =>
    `"${literal.slice(1, -1).replaceAll('\\"', '\\u0022')}"`.replaceAll(
      /[<>&'+`\u0080-\uFFFF]/g,
      upperEscape,
    ),
};

type JsonLayout = Omit<JsonForm, 'quote'>;

const TWO_SPACES = { comma: ',', colon: ': ', indent: '  ' };

const LAYOUTS: Readonly<Record<string, JsonLayout>> = {
  'without white space': { comma: ',', colon: ':' },
  'with a space after each comma and colon': { comma: ', ', colon: ': ' },
  'indented by two spaces': TWO_SPACES,
  'indented by four spaces': { comma: ',', colon: ': ', indent: '    ' },
  'indented by tabs': { comma: ',', colon: ': ', indent: '\t' },
};

const isInner: JsonForm['isOnOneLine'] = (_, level) => level > 0;

/** Formats of people and formatters, which escape nothing. */
const FORMATTERS: Readonly<Record<string, JsonLayout>> = {
  'with spaces inside braces': { comma: ', ', colon: ': ', padding: ' ' },
  'indented by two spaces, with inner values on one line': {
    ...TWO_SPACES,
    padding: ' ',
    isOnOneLine: isInner,
  },
  'indented by two spaces, with inner values on one line and no space inside braces': {
    ...TWO_SPACES,
    isOnOneLine: isInner,
  },
  'indented by two spaces, with arrays on one line': {
    ...TWO_SPACES,
    isOnOneLine: ({ kind }) => kind === 'array',
  },
};

/** Libraries that write like this by default, by layout and escapes. These forms are the most likely. */
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

/** A form, and a text that completes "JSON as … writes it". */
type NamedForm = readonly [writer: string, form: JsonForm];

const LIBRARIES = Object.entries(ESCAPES)
  .flatMap(([escapeName, escapeLiteral]) =>
    Object.entries(LAYOUTS).map(([layoutName, layout]): NamedForm => {
      const name = `${layoutName}${escapeName}`;
      const form = { ...layout, quote: (text: string) => escapeLiteral(JSON.stringify(text)) };
      return [WRITERS[name] ?? `a library ${name}`, form];
    }),
  )
  .sort(([a], [b]) => Number(a.startsWith('a library')) - Number(b.startsWith('a library')));

/** Most likely first. If two forms give the same text for a body, the first is named. */
export const jsonForms: readonly NamedForm[] = [
  ...LIBRARIES,
  ...LIBRARIES.map(
    ([writer, form]): NamedForm => [`${writer}, its keys sorted,`, { ...form, isSorted: true }],
  ),
  ...Object.entries(FORMATTERS).map(
    ([name, layout]): NamedForm => [`a formatter ${name}`, { ...layout, quote: JSON.stringify }],
  ),
];

/** Equal for equal content, however it was written. */
export const canonicalForm: JsonForm = { comma: ',', colon: ':', quote: JSON.stringify, isSorted: true };

/** A Python dictionary as written by `str(…)` or an f-string. */
export const pythonForm: JsonForm = {
  comma: ', ',
  colon: ': ',
  literals: { true: 'True', false: 'False', null: 'None' },
  // In double quotation marks only if the text contains a single one and no double one.
  quote: (text) => {
    // Python and JSON escape these in the same way.
    const escaped = text.replaceAll(/[\\\n\r\t]/g, (sign) => JSON.stringify(sign).slice(1, -1));
    return text.includes("'") && !text.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
  },
};
