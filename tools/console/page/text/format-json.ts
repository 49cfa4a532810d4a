import { GrowingArray, type Lines } from './lines.ts';

/** Position and reason of a JSON syntax error. */
export interface JsonFault {
  /** Index in the text. */
  readonly offset: number;
  /** From 1, as `column`. */
  readonly line: number;
  readonly column: number;
  /** Such as `a value is expected`. */
  readonly problem: string;
}

export type Formatted =
  | { readonly ok: true; readonly lines: Lines }
  | { readonly ok: false; readonly fault: JsonFault };

/** Deeper levels are indented like this one: 10,000 levels would be mostly white space. */
const DEEPEST_INDENT = 40;

const INDENT = '  ';

/** Tokens that may come next. */
type Expected =
  | 'a value'
  | 'a value or ]'
  | 'a key or }'
  | 'a key'
  | 'a colon'
  | 'a comma or }'
  | 'a comma or ]'
  | 'the end';

const OBJECT = 1;
const ARRAY = 0;

/**
 * Formats JSON text for people. Changes only white space outside strings: numbers and strings stay as written, such as
 * `1.0`, `1e999` and `"\u0041"`, and so do duplicate keys. It does not recurse, so any depth works.
 */
export function formatJson(text: string): Formatted {
  const starts = new GrowingArray();
  const depths = new GrowingArray();
  const keyEnds = new GrowingArray();
  const kept: string[] = [];
  /** Start of the text that is not in `kept` yet, and the number of characters skipped before it. */
  let keptFrom = 0;
  let removed = 0;
  /** Kinds of the open containers, outermost first. */
  let containers = new Uint8Array(64);
  let depth = 0;
  let expected: Expected = 'a value';
  let keyEnd = 0;
  let at = 0;

  const skipSpace = () => {
    const start = at;
    while (isSpace(text.charCodeAt(at))) at += 1;
    if (at === start) return;
    kept.push(text.slice(keptFrom, start));
    keptFrom = at;
    removed += at - start;
  };
  /** A line begins at `at`. */
  const beginLine = (level: number) => {
    if (starts.length > 0) keyEnds.push(keyEnd);
    starts.push(at - removed);
    depths.push(level);
    keyEnd = at - removed;
  };
  const afterValue = (): Expected =>
    depth === 0 ? 'the end' : containers[depth - 1] === OBJECT ? 'a comma or }' : 'a comma or ]';

  beginLine(0);
  for (;;) {
    skipSpace();
    if (at >= text.length) break;
    const character = text.charCodeAt(at);
    switch (expected) {
      case 'a key':
      case 'a key or }': {
        const isFirst = expected === 'a key or }';
        if (isFirst && character === CLOSE_BRACE) {
          at += 1;
          depth -= 1;
          expected = afterValue();
          continue;
        }
        if (character !== QUOTE) return fault(text, at, `${expected} is expected`);
        if (isFirst) beginLine(depth);
        const end = endOfString(text, at);
        if (end.fault !== undefined) return fault(text, end.at, end.fault);
        at = end.at;
        expected = 'a colon';
        continue;
      }
      case 'a colon':
        if (character !== COLON) return fault(text, at, `${expected} is expected`);
        at += 1;
        keyEnd = at - removed;
        expected = 'a value';
        continue;
      case 'a comma or }':
      case 'a comma or ]': {
        if (character === COMMA) {
          const isObject: boolean = expected === 'a comma or }';
          at += 1;
          skipSpace();
          beginLine(depth);
          expected = isObject ? 'a key' : 'a value';
          continue;
        }
        if (character !== (expected === 'a comma or }' ? CLOSE_BRACE : CLOSE_BRACKET)) {
          return fault(text, at, `${expected} is expected`);
        }
        depth -= 1;
        beginLine(depth);
        at += 1;
        expected = afterValue();
        continue;
      }
      case 'the end':
        return fault(text, at, `${expected} is expected`);
      default: {
        if (expected === 'a value or ]') {
          if (character === CLOSE_BRACKET) {
            at += 1;
            depth -= 1;
            expected = afterValue();
            continue;
          }
          beginLine(depth);
        }
        if (character === OPEN_BRACE || character === OPEN_BRACKET) {
          if (depth === containers.length) {
            const larger = new Uint8Array(depth * 2);
            larger.set(containers);
            containers = larger;
          }
          containers[depth] = character === OPEN_BRACE ? OBJECT : ARRAY;
          depth += 1;
          at += 1;
          expected = character === OPEN_BRACE ? 'a key or }' : 'a value or ]';
          continue;
        }
        const end = endOfScalar(text, at, expected);
        if (end.fault !== undefined) return fault(text, end.at, end.fault);
        at = end.at;
        expected = afterValue();
      }
    }
  }
  if (expected !== 'the end') return fault(text, at, `${expected} is expected`);
  keyEnds.push(keyEnd);
  kept.push(text.slice(keptFrom));
  const output = kept.join('');
  const begins = starts.toArray();
  const ends = new Uint32Array(begins.length);
  ends.set(begins.subarray(1));
  ends[ends.length - 1] = output.length;
  return {
    ok: true,
    lines: { text: output, starts: begins, ends, depths: depths.toArray(), keyEnds: keyEnds.toArray() },
  };
}

const indentOf = (depth: number) => INDENT.repeat(Math.min(depth, DEEPEST_INDENT));

/** The lines as one text, for copying. */
export function textOf({ text, starts, ends, depths, keyEnds }: Lines): string {
  const lines: string[] = [];
  for (let index = 0; index < starts.length; index += 1) {
    const start = starts[index] ?? 0;
    const keyEnd = keyEnds?.[index] ?? start;
    const key = keyEnd > start ? `${text.slice(start, keyEnd)} ` : '';
    lines.push(`${indentOf(depths?.[index] ?? 0)}${key}${text.slice(keyEnd, ends[index])}`);
  }
  return lines.join('\n');
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
const isDigit = (code: number) => code >= 0x30 && code <= 0x39;

/** Where a token ends, or where it is wrong. */
interface TokenEnd {
  readonly at: number;
  readonly fault?: string;
}

const ESCAPES = new Set('"\\/bfnrt');

function endOfString(text: string, start: number): TokenEnd {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return { at: at + 1 };
    if (code < 0x20) return { at, fault: 'a control character has to be escaped in a string' };
    if (code !== BACKSLASH) continue;
    at += 1;
    const escaped = text[at];
    if (escaped === 'u') {
      if (!/^[0-9a-f]{4}$/i.test(text.slice(at + 1, at + 5)))
        return { at, fault: 'four hex digits are expected after \\u' };
      at += 4;
    } else if (escaped === undefined || !ESCAPES.has(escaped)) {
      return { at, fault: 'one of "\\/bfnrtu is expected after a backslash' };
    }
  }
  return { at: text.length, fault: 'the string does not end' };
}

const LITERALS = ['true', 'false', 'null'];

/** @param expected text for the fault if there is no scalar */
function endOfScalar(text: string, start: number, expected: string): TokenEnd {
  const code = text.charCodeAt(start);
  if (code === QUOTE) return endOfString(text, start);
  const literal = LITERALS.find((word) => text.startsWith(word, start));
  if (literal !== undefined) return { at: start + literal.length };
  if (code !== 0x2d && !isDigit(code)) return { at: start, fault: `${expected} is expected` };
  return endOfNumber(text, start);
}

function endOfNumber(text: string, start: number): TokenEnd {
  let at = start;
  const digits = () => {
    const from = at;
    while (isDigit(text.charCodeAt(at))) at += 1;
    return at > from;
  };
  if (text[at] === '-') at += 1;
  if (text[at] === '0') at += 1;
  else if (!digits()) return { at, fault: 'a digit is expected' };
  if (text[at] === '.') {
    at += 1;
    if (!digits()) return { at, fault: 'a digit is expected' };
  }
  if (text[at] === 'e' || text[at] === 'E') {
    at += 1;
    if (text[at] === '+' || text[at] === '-') at += 1;
    if (!digits()) return { at, fault: 'a digit is expected' };
  }
  return { at };
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
