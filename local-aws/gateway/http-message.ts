import { Buffer } from 'node:buffer';
import { type IncomingMessage, validateHeaderName, validateHeaderValue } from 'node:http';

export interface HttpRequest {
  readonly method: string;
  /** Path as sent. */
  readonly path: string;
  /** Query string as sent, without the question mark. May be empty. */
  readonly query: string;
  readonly httpVersion: string;
  /**
   * Headers in the order received. Unlike in `IncomingMessage.headers`, all are there, and none are merged.
   */
  readonly headers: readonly Header[];
  readonly sourceIp: string;
  readonly port: number;
  readonly receivedAt: Date;
}

export type Header = readonly [name: string, value: string];

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

/** @param port of the server, which a closed connection no longer has */
export function requestOf(message: IncomingMessage, port: number): HttpRequest {
  return {
    method: message.method ?? '',
    ...splitTarget(message.url ?? ''),
    httpVersion: message.httpVersion,
    headers: pairs(message.rawHeaders),
    sourceIp: message.socket.remoteAddress ?? '',
    port: message.socket.localPort ?? port,
    receivedAt: new Date(),
  };
}

/** Splits a request target at the first `?`. The absolute form (RFC 9112, section 3.2.2) loses its origin. */
export function splitTarget(target: string): { path: string; query: string } {
  const originForm = target.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = originForm.indexOf('?');
  if (mark === -1) return { path: originForm || '/', query: '' };
  return { path: originForm.slice(0, mark) || '/', query: originForm.slice(mark + 1) };
}

/** Converts `rawHeaders` of Node.js, which alternate names and values, to pairs. */
export function pairs(rawHeaders: readonly string[]): Header[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
}

export function valuesOf(headers: readonly Header[], name: string): string[] {
  return headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
}

export function grouped(pairs: Iterable<Header>): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs) values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries(values);
}

/** @param lists of words with spaces between them */
export const setOf = (...lists: readonly string[]): ReadonlySet<string> =>
  new Set(lists.flatMap((list) => list.split(' ')));

/**
 * The headers without some names.
 * @param names in lower case
 */
export function without(headers: readonly Header[], names: ReadonlySet<string>): Header[] {
  return headers.filter(([name]) => !names.has(name.toLowerCase()));
}

/**
 * Whether a function may set this header: its name is valid, and its value is a text, number or boolean that
 * HTTP allows.
 */
export function isHeader(name: string, value: unknown): value is string | number | boolean {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, String(value));
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads the parts of a handler's result that both payload formats have. Results that AWS's documentation does not cover
 * are rejected (`statusCode` as text), so that code that works here also works in AWS.
 * @param headers of the response. Undefined if they are malformed
 */
export function responseOf(
  { statusCode, body = null, isBase64Encoded = false }: Record<string, unknown>,
  headers: HttpResponse['headers'] | undefined,
): HttpResponse | undefined {
  // After a status below 200, Node.js would wait for another one.
  if (!Number.isInteger(statusCode) || Number(statusCode) < 200 || Number(statusCode) > 599) return undefined;
  if (typeof isBase64Encoded !== 'boolean' || (body !== null && typeof body !== 'string')) return undefined;
  if (headers === undefined) return undefined;
  const encoding = isBase64Encoded ? 'base64' : 'utf8';
  return { status: Number(statusCode), headers, body: Buffer.from(body ?? '', encoding) };
}
