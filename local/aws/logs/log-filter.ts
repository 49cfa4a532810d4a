import { AwsError } from '../errors.ts';

/** Decides on one log line. */
export type LogFilter = (message: string) => boolean;

/** `$.message = "Failed*"`, `$.attempt != 1`. */
const COMPARISON = /^\$\.([\w.]+)\s*(=|!=)\s*(?:"([^"]*)"|(-?[\w.]+\*?))$/;

/** `$.lagMs > 3600000`. */
const NUMERIC_COMPARISON = /^\$\.([\w.]+)\s*(<=|<|>=|>)\s*(-?\d+(?:\.\d+)?)$/;

const numericComparisons: Readonly<Record<string, (value: number, wanted: number) => boolean>> = {
  '<': (value, wanted) => value < wanted,
  '<=': (value, wanted) => value <= wanted,
  '>': (value, wanted) => value > wanted,
  '>=': (value, wanted) => value >= wanted,
};

/** `"Task timed out"`, `?Runtime.OutOfMemory`. */
const TERM = /(\?)?(?:"([^"]+)"|([^\s"]+))/g;

/**
 * Reads CloudWatch Logs' filter pattern: terms, of which all must be in the line or, with `?`, one; or the fields of
 * JSON compared with `=` and `!=`, a trailing `*` standing for any text, or as numbers with `<`, `<=`, `>` and `>=`,
 * joined by `&&`, `||` and parentheses. Source: CloudWatch Logs user guide, "Filter pattern syntax for metric filters,
 * subscription filters, and filter log events".
 * @throws AwsError InvalidParameterException for what that syntax has besides
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
  const holds = new ExpressionReader(inside, pattern).read();
  return (message) => {
    const line = parse(message);
    return line !== undefined && holds(line);
  };
}

/** A parenthesis, `&&` or `||`, or a comparison up to the next of them. */
const TOKEN = /\(|\)|&&|\|\||(?:"[^"]*"|[^"()&|])+/g;

/** Reads comparisons that `&&` binds more closely than `||`, and parentheses more closely than either. */
class ExpressionReader {
  readonly #pattern: string;
  readonly #tokens: string[];

  constructor(text: string, pattern: string) {
    this.#pattern = pattern;
    this.#tokens = (text.match(TOKEN) ?? []).map((token) => token.trim()).filter((token) => token !== '');
  }

  /** @throws AwsError where it is no expression from end to end */
  read(): Comparison {
    const whole = this.#joined('||', () => this.#joined('&&', () => this.#one()));
    if (this.#tokens.length > 0) throw notSupported(this.#pattern);
    return whole;
  }

  #joined(operator: '&&' | '||', part: () => Comparison): Comparison {
    const parts = [part()];
    while (this.#tokens[0] === operator) {
      this.#tokens.shift();
      parts.push(part());
    }
    return operator === '||'
      ? (line) => parts.some((holds) => holds(line))
      : (line) => parts.every((holds) => holds(line));
  }

  #one(): Comparison {
    const token = this.#tokens.shift() ?? '';
    if (token !== '(') return compare(token, this.#pattern);
    const inside = this.#joined('||', () => this.#joined('&&', () => this.#one()));
    if (this.#tokens.shift() !== ')') throw notSupported(this.#pattern);
    return inside;
  }
}

type Comparison = (line: Record<string, unknown>) => boolean;

function compare(comparison: string, pattern: string): Comparison {
  const numeric = NUMERIC_COMPARISON.exec(comparison);
  if (numeric !== null) return compareNumbers(numeric);
  const [, field = '', operator, quoted, bare = ''] = COMPARISON.exec(comparison) ?? [];
  if (operator === undefined) throw notSupported(pattern);
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

/** @param path such as `record.status` */
function fieldOf(line: Record<string, unknown>, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      line,
    );
}

function compareNumbers([, field = '', operator = '', wanted]: readonly string[]): Comparison {
  return (line) => {
    const value = fieldOf(line, field);
    return typeof value === 'number' && numericComparisons[operator]?.(value, Number(wanted)) === true;
  };
}

function parse(message: string): Record<string, unknown> | undefined {
  if (!message.startsWith('{')) return undefined;
  try {
    return JSON.parse(message);
  } catch {
    return undefined;
  }
}

function notSupported(pattern: string): AwsError {
  return new AwsError(
    'InvalidParameterException',
    `Invalid filter pattern, or one that the local AWS endpoint does not know: ${pattern}. It knows terms, and { $.field = "value" } with =, !=, <, <=, >, >=, &&, || and parentheses.`,
  );
}
