/**
 * Formats JSON text for people. Changes only white space outside strings: numbers and strings stay as written, such as
 * `1.0`, `1e999` and `"\u0041"`, and so do duplicate keys. It does not recurse, so any depth works.
 */
export function formatJson(text: string): Formatted {
  return new JsonFormatter(text).format();
}

/** Position and reason of a JSON syntax error. */
interface JsonFault {
  /** Index in the text. */
  readonly offset: number;
  /** From 1, as `column`. */
  readonly line: number;
  readonly column: number;
  /** Such as `a value is expected`. */
  readonly problem: string;
}

export type Formatted =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly fault: JsonFault };

type Expected =
  | 'a value'
  | 'a value or ]'
  | 'a key or }'
  | 'a key'
  | 'a colon'
  | 'a comma or }'
  | 'a comma or ]'
  | 'the end';

class JsonFormatter {
  readonly #text: string;
  readonly #output: string[] = [];
  /** The open containers, outermost first. */
  readonly #containers: ('{' | '[')[] = [];
  #expected: Expected = 'a value';
  #at = 0;
  /** Start of the text that is not in the output yet. */
  #from = 0;

  constructor(text: string) {
    this.#text = text;
  }

  format(): Formatted {
    this.#skipSpace();
    while (this.#at < this.#text.length) {
      const { at, problem } = this.#readToken(this.#text[this.#at] ?? '');
      if (problem !== undefined) return fault(this.#text, at, problem);
      this.#at = at;
      this.#skipSpace();
    }
    if (this.#expected !== 'the end') return fault(this.#text, this.#at, `${this.#expected} is expected`);
    this.#put('');
    return { ok: true, text: this.#output.join('') };
  }

  #readToken(character: string): TokenEnd {
    switch (this.#expected) {
      case 'a key or }':
        return character === '}' ? this.#close() : this.#readKey(character);
      case 'a key':
        return this.#readKey(character);
      case 'a colon':
        return this.#readColon(character);
      case 'a comma or }':
        return this.#readComma(character, '}', 'a key');
      case 'a comma or ]':
        return this.#readComma(character, ']', 'a value');
      case 'a value or ]':
        return character === ']' ? this.#close() : this.#readValue(character);
      case 'a value':
        return this.#readValue(character);
      case 'the end':
        return this.#unexpected();
    }
  }

  #readKey(character: string): TokenEnd {
    if (character !== '"') return this.#unexpected();
    this.#beginLine(this.#containers.length);
    this.#expected = 'a colon';
    return endOfString(this.#text, this.#at);
  }

  #readColon(character: string): TokenEnd {
    if (character !== ':') return this.#unexpected();
    this.#expected = 'a value';
    this.#at += 1;
    this.#put(' ');
    return { at: this.#at };
  }

  #readComma(character: string, closing: '}' | ']', next: Expected): TokenEnd {
    if (character === closing) {
      this.#beginLine(this.#containers.length - 1);
      return this.#close();
    }
    if (character !== ',') return this.#unexpected();
    this.#expected = next;
    return { at: this.#at + 1 };
  }

  #readValue(character: string): TokenEnd {
    if (this.#containers.at(-1) === '[') this.#beginLine(this.#containers.length);
    if (character === '{' || character === '[') {
      this.#containers.push(character);
      this.#expected = character === '{' ? 'a key or }' : 'a value or ]';
      return { at: this.#at + 1 };
    }
    const end = endOfScalar(this.#text, this.#at, this.#expected);
    this.#expectNext();
    return end;
  }

  #close(): TokenEnd {
    this.#containers.pop();
    this.#expectNext();
    return { at: this.#at + 1 };
  }

  #expectNext(): void {
    const container = this.#containers.at(-1);
    if (container === undefined) this.#expected = 'the end';
    else this.#expected = container === '{' ? 'a comma or }' : 'a comma or ]';
  }

  #unexpected(): TokenEnd {
    return { at: this.#at, problem: `${this.#expected} is expected` };
  }

  #skipSpace(): void {
    const start = this.#at;
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
    if (this.#at === start) return;
    this.#output.push(this.#text.slice(this.#from, start));
    this.#from = this.#at;
  }

  #beginLine(depth: number): void {
    this.#put(`\n${INDENT.repeat(Math.min(depth, DEEPEST_INDENT))}`);
  }

  /** Adds the text before the current position, and more. */
  #put(more: string): void {
    this.#output.push(this.#text.slice(this.#from, this.#at), more);
    this.#from = this.#at;
  }
}

/** Deeper levels are indented like this one: 10,000 levels would be mostly white space. */
const DEEPEST_INDENT = 40;

const INDENT = '  ';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Where a token ends, or where it is wrong. */
interface TokenEnd {
  readonly at: number;
  readonly problem?: string;
}

const ESCAPES = new Set('"\\/bfnrt');

function endOfString(text: string, start: number): TokenEnd {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return { at: at + 1 };
    if (code < 0x20) return { at, problem: 'a control character has to be escaped in a string' };
    if (code !== BACKSLASH) continue;
    at += 1;
    const escaped = text[at];
    if (escaped === 'u') {
      if (!/^[0-9a-f]{4}$/i.test(text.slice(at + 1, at + 5)))
        return { at, problem: 'four hex digits are expected after \\u' };
      at += 4;
    } else if (escaped === undefined || !ESCAPES.has(escaped)) {
      return { at, problem: 'one of "\\/bfnrtu is expected after a backslash' };
    }
  }
  return { at: text.length, problem: 'the string does not end' };
}

const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function endOfScalar(text: string, start: number, expected: string): TokenEnd {
  if (text.charCodeAt(start) === QUOTE) return endOfString(text, start);
  SCALAR.lastIndex = start;
  return SCALAR.test(text) ? { at: SCALAR.lastIndex } : { at: start, problem: `${expected} is expected` };
}

function fault(text: string, offset: number, problem: string): Formatted {
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', lineStart)) {
    line += 1;
    lineStart = end + 1;
  }
  return { ok: false, fault: { offset, line, column: offset - lineStart + 1, problem } };
}

export const faultText = ({ line, column, problem }: JsonFault) =>
  `Line ${line}, column ${column}: ${problem}.`;
