import { format, type ParseErrorCode, parseTree, printParseErrorCode, visit } from 'jsonc-parser';

/**
 * Formats JSON text for people. Changes only white space outside strings: numbers, strings and duplicate keys
 * stay as written, such as `1.0`, `1e999` and `"\u0041"`.
 */
export function formatJson(text: string): FormattedJson {
  const fault = jsonFault(text);
  return fault === undefined ? { ok: true, text: formatted(text) } : { ok: false, fault };
}

type FormattedJson =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly fault: JsonFault };

/** Why a text cannot be formatted. `message` is a sentence for people. */
export class JsonFault extends Error {
  /** Index in the text where the problem is. */
  readonly offset: number;
  /** The problem without its position, such as `a value is expected`. */
  readonly problem: string;

  constructor(message: string, offset: number, problem: string) {
    super(message);
    this.offset = offset;
    this.problem = problem;
  }
}

/**
 * Maximum depth of values. jsonc-parser recurses for each level, and indentation grows with each: a deep text
 * could fill the memory.
 */
const MAX_DEPTH = 40;

/** @returns undefined if the text can be formatted */
export function jsonFault(text: string): JsonFault | undefined {
  let depth = 0;
  const onBegin = (offset: number) => {
    depth += 1;
    if (depth <= MAX_DEPTH) return;
    const problem = `deeper than ${MAX_DEPTH} levels`;
    throw new JsonFault(`The value is ${problem}.`, offset, problem);
  };
  const onEnd = () => {
    depth -= 1;
  };
  const onError = (code: ParseErrorCode, offset: number, length: number) => {
    const problem = PROBLEMS[printParseErrorCode(code)] ?? 'a value is expected';
    throw syntaxError(text, offset + badPart(text.slice(offset, offset + length)), problem);
  };
  const visitor = { onObjectBegin: onBegin, onArrayBegin: onBegin, onObjectEnd: onEnd, onArrayEnd: onEnd };
  try {
    visit(text, { ...visitor, onError }, { disallowComments: true });
  } catch (fault) {
    if (fault instanceof JsonFault) return fault;
    throw fault;
  }
  return undefined;
}

/** Error texts for people, by the name of the error in jsonc-parser. */
const PROBLEMS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'text must be in double quotes',
  InvalidNumberFormat: 'the number is not complete',
  UnexpectedEndOfNumber: 'the number is not complete',
  PropertyNameExpected: 'a key is expected',
  ColonExpected: 'a colon is expected',
  CommaExpected: 'a comma is expected',
  CloseBraceExpected: 'a comma or } is expected',
  CloseBracketExpected: 'a comma or ] is expected',
  EndOfFileExpected: 'nothing may follow the value',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfString: 'the string does not end',
  InvalidUnicode: 'four hex digits are expected after \\u',
  InvalidEscapeCharacter: 'one of "\\/bfnrtu is expected after a backslash',
  InvalidCharacter: 'control characters in a string must be escaped',
};

/**
 * Index in a string token of the first character that a string must not contain. jsonc-parser reports only
 * where the string begins.
 */
function badPart(token: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is control characters that are looked for
  const parts = token.matchAll(/\\(?:["\\/bfnrt]|u[\da-fA-F]{4})|[\\\u0000-\u001f]/g);
  return parts.find(([part]) => part.length === 1)?.index ?? 0;
}

function syntaxError(text: string, offset: number, problem: string): JsonFault {
  const lines = text.slice(0, offset).split('\n');
  const position = `Line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
  return new JsonFault(`Not JSON. ${position}: ${problem}.`, offset, problem);
}

/** Applies jsonc-parser's edits in one pass: its own `applyEdits` copies the whole text for each of them. */
function formatted(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { offset, length, content } of format(text, undefined, {
    tabSize: 2,
    insertSpaces: true,
    eol: '\n',
  })) {
    parts.push(text.slice(at, offset), content);
    at = offset + length;
  }
  return parts.join('') + text.slice(at);
}

/**
 * Sets the value of the top-level key `timestamp` and changes nothing else. If the key occurs more than once,
 * the last one changes, because parsers use the last.
 * @returns undefined if the text is not a JSON object with this key
 */
export function withTimestamp(text: string, now: Date): string | undefined {
  if (jsonFault(text) !== undefined) return undefined;
  const root = parseTree(text);
  const properties = root?.type === 'object' ? (root.children ?? []) : [];
  const value = properties.findLast(({ children }) => children?.[0]?.value === 'timestamp')?.children?.[1];
  if (value === undefined) return undefined;
  const end = value.offset + value.length;
  return text.slice(0, value.offset) + JSON.stringify(now.toISOString()) + text.slice(end);
}
