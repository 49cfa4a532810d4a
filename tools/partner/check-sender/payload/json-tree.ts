/** JSON as it was written: keys in their order and as often as they came, numbers by their digits. */
export type JsonNode = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, value: JsonNode])[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly value: string }
  /** A number, `true`, `false` or `null`. */
  | { readonly kind: 'literal'; readonly text: string }
);

/** Levels of objects and arrays in each other: what is deeper is no event, and would not fit the stack. */
const DEEPEST = 200;

/** One token, with the white space before it. */
const TOKEN = /[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^ \t\r\n{}[\]:,"]+)/y;

/** @returns undefined where the text is not JSON, or deeper than anybody writes it */
export function jsonTree(text: string): JsonNode | undefined {
  try {
    JSON.parse(text);
    return new Reader(text).value(0);
  } catch {
    return undefined;
  }
}

/** Reads what is known to be JSON. */
class Reader {
  readonly #text: string;
  readonly #tokens: { text: string; end: number }[] = [];
  #next = 0;

  constructor(text: string) {
    this.#text = text;
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
      this.#tokens.push({ text: match[1] ?? '', end: TOKEN.lastIndex });
    }
  }

  value(depth: number): JsonNode {
    if (depth > DEEPEST) throw new RangeError('too deep');
    const { text, end } = this.#take();
    const start = end - text.length;
    if (text === '{') return this.#object(start, depth);
    if (text === '[') return this.#array(start, depth);
    if (text.startsWith('"')) return { kind: 'string', value: JSON.parse(text) as string, start, end };
    return { kind: 'literal', text, start, end };
  }

  #object(start: number, depth: number): JsonNode {
    const entries: (readonly [string, JsonNode])[] = [];
    while (this.#peek() !== '}') {
      if (this.#peek() === ',') this.#take();
      const key = JSON.parse(this.#take().text) as string;
      this.#take();
      entries.push([key, this.value(depth + 1)]);
    }
    return { kind: 'object', entries, start, end: this.#take().end };
  }

  #array(start: number, depth: number): JsonNode {
    const items: JsonNode[] = [];
    while (this.#peek() !== ']') {
      if (this.#peek() === ',') this.#take();
      items.push(this.value(depth + 1));
    }
    return { kind: 'array', items, start, end: this.#take().end };
  }

  #peek(): string | undefined {
    return this.#tokens[this.#next]?.text;
  }

  #take(): { text: string; end: number } {
    const token = this.#tokens[this.#next];
    if (token === undefined) throw new SyntaxError(`ends at ${this.#text.length}`);
    this.#next += 1;
    return token;
  }
}

/** The value of a key of an object: the last, as every parser in use takes it. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === 'object' ? node.entries.findLast(([name]) => name === key)?.[1] : undefined;
}

/** Whether an object anywhere in it has a key twice. */
export function hasKeyTwice(node: JsonNode): boolean {
  if (node.kind === 'array') return node.items.some(hasKeyTwice);
  if (node.kind !== 'object') return false;
  const isTwice = new Set(node.entries.map(([key]) => key)).size < node.entries.length;
  return isTwice || node.entries.some(([, value]) => hasKeyTwice(value));
}

/** In words: `an object`, `null`. */
export function shapeOf(node: JsonNode): string {
  if (node.kind === 'object') return 'an object';
  if (node.kind === 'array') return 'an array';
  if (node.kind === 'string') return 'a text';
  if (node.text === 'null') return 'null';
  return node.text === 'true' || node.text === 'false' ? 'true or false' : 'a number';
}
