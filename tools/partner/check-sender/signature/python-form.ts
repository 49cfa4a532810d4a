import type { JsonNode } from '../payload/json-tree.ts';

const NAMES: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Python's own notation of a dictionary, as `str(…)` and an f-string give it. */
export function writePython(node: JsonNode): string {
  if (node.kind === 'literal') return NAMES[node.text] ?? node.text;
  if (node.kind === 'string') return quoted(node.value);
  if (node.kind === 'array') return `[${node.items.map(writePython).join(', ')}]`;
  const entries = new Map(node.entries);
  return `{${[...entries].map(([key, value]) => `${quoted(key)}: ${writePython(value)}`).join(', ')}}`;
}

/** In double quotation marks only where there is a single one in it, and no double one. */
function quoted(text: string): string {
  const escaped = text.replaceAll(/[\\\n\r\t]/g, (sign) => ESCAPES[sign] ?? sign);
  if (text.includes("'") && !text.includes('"')) return `"${escaped}"`;
  return `'${escaped.replaceAll("'", "\\'")}'`;
}
