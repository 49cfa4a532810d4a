import { parse } from '@babel/parser';

/** A part of a source and the function that it is in. Lines from 1, columns from 0. */
interface Range {
  readonly name: string;
  readonly start: Position;
  readonly end: Position;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** What is read of a node of the syntax tree; which kinds have which, ESTree and Babel's AST specification say. */
interface Node {
  readonly type: string;
  readonly loc: { readonly start: Position; readonly end: Position };
  readonly kind?: string;
  readonly id?: Node | null;
  readonly key?: Node;
  readonly value?: unknown;
  readonly init?: Node | null;
  readonly name?: string;
}

/** Names the function that a place of a source is in. Line and column count from 0, as in a source map. */
export type FunctionNames = (line: number, column: number) => string | undefined;

/**
 * Finds the functions of a TypeScript source by name: `versionedWrite`, `Cast.#put`, `new Cast`. A function
 * without a name, such as a callback, belongs to the one around it: that is where a reader looks.
 */
export function functionNames(source: string): FunctionNames {
  const ranges: Range[] = [];
  collect(parse(source, { sourceType: 'module', plugins: ['typescript'] }).program, undefined, ranges);
  // A range is found before those inside of it: the last one that fits is the innermost.
  return (line, column) =>
    ranges.findLast(
      ({ start, end }) =>
        isBefore(start, { line: line + 1, column }) && isBefore({ line: line + 1, column }, end),
    )?.name;
}

const isBefore = (a: Position, b: Position) => a.line < b.line || (a.line === b.line && a.column <= b.column);

function collect(value: unknown, className: string | undefined, ranges: Range[]): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, className, ranges);
  } else if (isNode(value)) {
    const name = nameOf(value, className);
    if (name !== undefined) ranges.push({ name, ...value.loc });
    const inClass = value.type === 'ClassDeclaration' ? value.id?.name : className;
    for (const child of Object.values(value)) collect(child, inClass, ranges);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'loc' in value;

/** @returns undefined where the node is no function, or one without a name of its own */
function nameOf(node: Node, className: string | undefined): string | undefined {
  switch (node.type) {
    case 'FunctionDeclaration':
      return node.id?.name;
    case 'VariableDeclarator':
      return isFunction(node.init) ? node.id?.name : undefined;
    case 'ObjectMethod':
      return node.key?.name;
    case 'ObjectProperty':
      return isFunction(node.value) ? node.key?.name : undefined;
    case 'ClassMethod':
    case 'ClassPrivateMethod':
      return node.kind === 'constructor' ? `new ${className}` : memberName(node, className);
    case 'ClassProperty':
    case 'ClassPrivateProperty':
      return isFunction(node.value) ? memberName(node, className) : undefined;
    default:
      return undefined;
  }
}

function isFunction(value: unknown): boolean {
  return isNode(value) && (value.type === 'ArrowFunctionExpression' || value.type === 'FunctionExpression');
}

function memberName({ key }: Node, className: string | undefined): string | undefined {
  const name = key?.type === 'PrivateName' ? `#${(key.id as Node).name}` : key?.name;
  return name === undefined || className === undefined ? name : `${className}.${name}`;
}
