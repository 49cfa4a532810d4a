import { AwsError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '../json.ts';

type LogFilter = (message: string) => boolean;

/** A comparison, such as `$.message = "Failed*"`, `$.attempt != 1` or `$.lagMs > 3600000`. */
const COMPARISON = /^\$\.([\w.]+)\s*(<=|<|>=|>|=|!=)\s*(?:"([^"]*)"|(-?[\w.]+\*?))$/;

const NUMERIC_OPERATORS: Readonly<Record<string, (value: number, wanted: number) => boolean>> = {
  '<': (value, wanted) => value < wanted,
  '<=': (value, wanted) => value <= wanted,
  '>': (value, wanted) => value > wanted,
  '>=': (value, wanted) => value >= wanted,
};
const NUMBER = /^-?\d+(\.\d+)?$/;

/** A term, such as `"Task timed out"` or `?Runtime.OutOfMemory`. */
const TERM = /(\?)?(?:"([^"]+)"|([^\s"]+))/g;

/**
 * Parses a filter pattern of CloudWatch Logs. Either the pattern consists of terms: all terms, or one of the terms that
 * begin with `?`, must be in the line. Or the pattern compares JSON fields: as text with `=` and `!=`, where a trailing
 * `*` stands for any text, or as numbers with `<`, `<=`, `>` and `>=`, combined by `&&`, `||` and parentheses. Source:
 * CloudWatch Logs user guide, "Filter pattern syntax for metric filters, subscription filters, and filter log events".
 * @throws AwsError InvalidParameterException for other parts of that syntax
 */
export function logFilter(pattern: string): LogFilter {
  const text = pattern.trim();
  if (text === '') return () => true;
  if (text.startsWith('{')) return jsonFilter(text);
  if (/^[[%]/.test(text)) throw notSupported(pattern);
  const terms = [...text.matchAll(TERM)].map(([, optional, quoted, word]) => ({
    optional: optional !== undefined,
    term: quoted ?? word ?? '',
  }));
  if (terms.some(({ term }) => term.startsWith('-'))) throw notSupported(pattern);
  const needed = terms.filter(({ optional }) => !optional);
  return (message) =>
    needed.length > 0
      ? needed.every(({ term }) => message.includes(term))
      : terms.some(({ term }) => message.includes(term));
}

function jsonFilter(pattern: string): LogFilter {
  const inside = /^\{(.*)\}$/s.exec(pattern)?.[1];
  if (inside === undefined) throw notSupported(pattern);
  const tokens = (inside.match(TOKEN) ?? []).map((token) => token.trim()).filter((token) => token !== '');
  const matches = expressionOf(tokens, pattern);
  if (tokens.length > 0) throw notSupported(pattern);
  return (message) => {
    const line = message.startsWith('{') ? parseJsonObject(message) : undefined;
    return line !== undefined && matches(line);
  };
}

/** Token of an expression: a parenthesis, `&&`, `||`, or a comparison. */
const TOKEN = /\(|\)|&&|\|\||(?:"[^"]*"|[^"()&|])+/g;

type LineTest = (line: JsonObject) => boolean;

/**
 * Reads alternatives that are joined by `||`, each of parts that are joined by `&&`, and removes their tokens.
 * @throws AwsError for an invalid expression
 */
function expressionOf(tokens: string[], pattern: string): LineTest {
  const part = () => {
    const token = tokens.shift() ?? '';
    if (token !== '(') return comparisonOf(token, pattern);
    const inside = expressionOf(tokens, pattern);
    if (tokens.shift() !== ')') throw notSupported(pattern);
    return inside;
  };
  const alternatives = [[part()]];
  while (tokens[0] === '&&' || tokens[0] === '||') {
    if (tokens.shift() === '||') alternatives.push([part()]);
    else alternatives.at(-1)?.push(part());
  }
  return (line) => alternatives.some((parts) => parts.every((matches) => matches(line)));
}

function comparisonOf(text: string, pattern: string): LineTest {
  const [, field = '', operator = '', quoted, bare = ''] = COMPARISON.exec(text) ?? [];
  if (operator === '') throw notSupported(pattern);
  const compare = NUMERIC_OPERATORS[operator];
  if (compare !== undefined) {
    if (!NUMBER.test(bare)) throw notSupported(pattern);
    return (line) => {
      const value = fieldOf(line, field);
      return typeof value === 'number' && compare(value, Number(bare));
    };
  }
  const wanted = quoted ?? bare;
  if (wanted.slice(0, -1).includes('*')) throw notSupported(pattern);
  const equals = wanted.endsWith('*')
    ? (value: string) => value.startsWith(wanted.slice(0, -1))
    : (value: string) => value === wanted;
  return (line) => {
    const value = fieldOf(line, field);
    if (value === undefined || typeof value === 'object') return false;
    return equals(String(value)) === (operator === '=');
  };
}

/** @param path of a field in a JSON log line, such as `record.status` */
const fieldOf = (line: JsonObject, path: string) =>
  path
    .split('.')
    .reduce<JsonValue | undefined>(
      (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      line,
    );

function notSupported(pattern: string): AwsError {
  return new AwsError(
    'InvalidParameterException',
    `Invalid filter pattern, or one that the local AWS endpoint does not know: ${pattern}. It knows terms, and { $.field = "value" } with =, !=, <, <=, >, >=, &&, || and parentheses.`,
  );
}
