import type { JsonNode } from '../payload/json-tree.ts';

/** How a library writes JSON. */
export interface JsonForm {
  /** Completes "JSON as … writes it". */
  readonly writer: string;
  readonly layout: Layout;
  readonly escape: (literal: string) => string;
  readonly sorted: boolean;
}

interface Layout {
  readonly comma: string;
  readonly colon: string;
  /** White space of one level, each value on a line of its own. @default all on one line */
  readonly indent?: string;
}

const unicodeEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const upperEscape = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

const asIs = (literal: string) => literal;
const ascii = (literal: string) => literal.replaceAll(/[\u0080-\uFFFF]/g, unicodeEscape);
const slashes = (literal: string) => literal.replaceAll('/', '\\/');
const asciiAndSlashes = (literal: string) => slashes(ascii(literal));
const html = (literal: string) => literal.replaceAll(/[<>&\u2028\u2029]/g, unicodeEscape);
const gson = (literal: string) => literal.replaceAll(/[<>&='\u2028\u2029]/g, unicodeEscape);
const dotNet = (literal: string) =>
  `"${literal.slice(1, -1).replaceAll('\\"', '\\u0022')}"`.replaceAll(/[<>&'+`\u0080-\uFFFF]/g, upperEscape);

const compact: Layout = { comma: ',', colon: ':' };
const spaced: Layout = { comma: ', ', colon: ': ' };
const indented = (indent: string): Layout => ({ comma: ',', colon: ': ', indent });

/** The form of `JSON.stringify`, and of most libraries. */
const layouts: readonly (readonly [name: string, layout: Layout])[] = [
  ['without white space', compact],
  ['with a space after each comma and colon', spaced],
  ['indented by two spaces', indented('  ')],
  ['indented by four spaces', indented('    ')],
  ['indented by tabs', indented('\t')],
];

const escapes: readonly (readonly [name: string, escape: (literal: string) => string])[] = [
  ['', asIs],
  [' and with \\u escapes for what is not ASCII', ascii],
  [' and with \\/ for each slash and \\u escapes', asciiAndSlashes],
  [' and with \\/ for each slash', slashes],
  [' and with \\u escapes for < > &', html],
  [" and with \\u escapes for < > & = '", gson],
  [' and with the \\u escapes of .NET', dotNet],
];

/** Who writes like that by itself, by layout and escape. */
const WRITERS: Readonly<Record<string, string>> = {
  'without white space': 'JSON.stringify',
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

const forms = escapes.flatMap(([escapeName, escaped]) =>
  layouts.map(([layoutName, layout]) => {
    const name = `${layoutName}${escapeName}`;
    return {
      name,
      form: { writer: WRITERS[name] ?? `a library ${name}`, layout, escape: escaped, sorted: false },
    };
  }),
);

/** Those that a library writes by itself before the others. */
const ordered: readonly JsonForm[] = [
  ...forms.filter(({ name }) => name in WRITERS),
  ...forms.filter(({ name }) => !(name in WRITERS)),
].map(({ form }) => form);

/** The likeliest first. Where two write the same of a body, the first is named. */
export const jsonForms: readonly JsonForm[] = [
  ...ordered,
  ...ordered.map((form) => ({ ...form, writer: `${form.writer}, its keys sorted,`, sorted: true })),
];

/** Writes JSON in that form. Numbers keep their digits. */
export function writeJson(node: JsonNode, form: JsonForm, level = 0): string {
  if (node.kind === 'literal') return node.text;
  if (node.kind === 'string') return form.escape(JSON.stringify(node.value));
  const parts =
    node.kind === 'array'
      ? node.items.map((item) => writeJson(item, form, level + 1))
      : lastOfEach(node.entries, form.sorted).map(
          ([key, value]) =>
            `${form.escape(JSON.stringify(key))}${form.layout.colon}${writeJson(value, form, level + 1)}`,
        );
  const [open, close] = node.kind === 'array' ? '[]' : '{}';
  const { indent, comma } = form.layout;
  if (indent === undefined || parts.length === 0) return `${open}${parts.join(comma)}${close}`;
  const inner = `\n${indent.repeat(level + 1)}`;
  return `${open}${inner}${parts.join(`${comma}${inner}`)}\n${indent.repeat(level)}${close}`;
}

type Entries = readonly (readonly [key: string, value: JsonNode])[];

/** A parser keeps one value of each key, at the place of the first. */
function lastOfEach(entries: Entries, sorted: boolean): Entries {
  const all = [...new Map(entries)];
  // By code units, as Python and PHP sort, too, for what is in the basic plane.
  return sorted ? all.sort(([a], [b]) => (a < b ? -1 : 1)) : all;
}
