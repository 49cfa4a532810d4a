import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';

/** A value within a JSON text, with its position. */
export interface JsonField {
  readonly from: number;
  readonly to: number;
  /** Path such as `data.tags[0]`, as in JavaScript and jq. Empty for the whole text. */
  readonly path: string;
  /** The value as written in the text. */
  readonly source: string;
  /** The content if the value is a string. Otherwise the same as `source`. */
  readonly value: string;
  /** Whether the value is an object or an array. */
  readonly isContainer: boolean;
}

/** Maximum milliseconds to parse the text up to the cursor. */
const PARSE_TIME = 500;

const SCALARS = new Set(['String', 'Number', 'True', 'False', 'Null']);
const CONTAINERS = new Set(['Object', 'Array']);
const isValue = ({ name }: Node) => SCALARS.has(name) || CONTAINERS.has(name);

/** The value at the cursor, or of the key at the cursor. Otherwise the first value of the cursor's line. */
export function fieldAtCursor(state: EditorState): JsonField | undefined {
  const { head } = state.selection.main;
  const line = state.doc.lineAt(head);
  const start = line.from + line.text.search(/\S|$/);
  const tree = ensureSyntaxTree(state, line.to, PARSE_TIME) ?? syntaxTree(state);
  const candidates = [tree.resolveInner(head, 1), tree.resolveInner(head, -1), tree.resolveInner(start, 1)];
  let node: Node | null = candidates.find(({ name }) => name === 'PropertyName' || SCALARS.has(name)) ?? null;
  node ??= tree.resolveInner(start, 1);
  if (node.name === 'PropertyName') node = node.parent?.lastChild ?? null;
  while (node !== null && !isValue(node)) node = node.parent;
  if (node === null) return undefined;
  const { from, to, name } = node;
  const source = state.sliceDoc(from, to);
  return {
    from,
    to,
    path: pathOf(node, state),
    source,
    value: content(source),
    isContainer: CONTAINERS.has(name),
  };
}

type Node = ReturnType<ReturnType<typeof syntaxTree>['resolveInner']>;

function pathOf(value: Node, state: EditorState): string {
  const parts: string[] = [];
  for (let node: Node | null = value; node !== null; node = node.parent) {
    const key = node.name === 'Property' ? node.getChild('PropertyName') : null;
    if (key !== null) parts.unshift(keyText(content(state.sliceDoc(key.from, key.to))));
    if (node.parent?.name === 'Array') parts.unshift(`[${indexOf(node)}]`);
  }
  return parts.join('').replace(/^\./, '');
}

const keyText = (key: string) => (/^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

function indexOf(element: Node): number {
  let index = 0;
  for (let node = element.prevSibling; node !== null; node = node.prevSibling) if (isValue(node)) index += 1;
  return index;
}

/**
 * The content of a string as written. In a text that is too long to parse completely, the string may be cut.
 */
function content(source: string): string {
  try {
    return source.startsWith('"') ? JSON.parse(source) : source;
  } catch {
    return source;
  }
}
