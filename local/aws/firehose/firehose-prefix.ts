/** Expressions of a prefix that are evaluated for each object, such as `!{timestamp:yyyy-MM-dd}`. */
const EXPRESSION = /!\{(\w+):([^}]*)\}/g;

/** Letters that Java's DateTimeFormatter gives a meaning; those of them that are understood here. */
const FIELDS: Readonly<Record<string, (time: string) => string>> = {
  yyyy: (time) => time.slice(0, 4),
  MM: (time) => time.slice(5, 7),
  dd: (time) => time.slice(8, 10),
  HH: (time) => time.slice(11, 13),
  mm: (time) => time.slice(14, 16),
  ss: (time) => time.slice(17, 19),
};

/** Text in quotes, a run of one letter, or any other character. */
const TOKEN = /'([^']*)'|([A-Za-z])\2*|[^A-Za-z']/g;

/** What Firehose adds to a prefix without an expression. */
const DEFAULT_TIME = 'yyyy/MM/dd/HH/';

/**
 * The prefix of an object whose first record came at that time, in UTC.
 * Source: Firehose developer guide, "Understand custom prefixes for Amazon S3 objects".
 * @throws Error naming the expression that is not understood here
 */
export function evaluatedPrefix(prefix: string, arrived: Date): string {
  if (prefix.search(EXPRESSION) === -1) return prefix + formatted(DEFAULT_TIME, arrived);
  return prefix.replace(EXPRESSION, (expression, namespace: string, value: string) => {
    if (namespace !== 'timestamp') throw notUnderstood(expression);
    return formatted(value, arrived);
  });
}

/** The last part of a key: stream, its version, time and a name of its own. */
export function objectName(stream: string, version: string, arrived: Date, id: string): string {
  return `${stream}-${version}-${formatted('yyyy-MM-dd-HH-mm-ss', arrived)}-${id}`;
}

function formatted(pattern: string, time: Date): string {
  const text = time.toISOString();
  return pattern.replace(TOKEN, (token: string, quoted?: string, letter?: string) => {
    if (quoted !== undefined) return quoted;
    if (letter === undefined) return token;
    const field = FIELDS[token];
    if (field === undefined) throw notUnderstood(token);
    return field(text);
  });
}

function notUnderstood(what: string): Error {
  return new Error(`${what} is not understood here: !{timestamp:} with ${Object.keys(FIELDS).join(', ')} is`);
}
