import { valuesOf } from 'local-aws/gateway';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import { nearest } from '../../lib/did-you-mean.ts';
import { REDIRECT_PATH } from './answer-steps.ts';
import { type Finding, finding } from './finding.ts';
import { containsSecret } from './readings.ts';
import { type SentRequest, targetOf } from './signed-messages.ts';

/**
 * Maximum bytes of the request line and the headers' values together: the quota of an HTTP API
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html).
 */
const MAX_HEAD_BYTES = 10_240;

/** Mistakes in method or address that make the service answer 404. */
export function addressFindings({ method, path, query, headers }: SentRequest): Finding[] {
  if (path === REDIRECT_PATH) return [finding('redirect-followed')];
  const isEvent = ['content-type', 'x-webhook-signature'].some((name) => valuesOf(headers, name).length > 0);
  const isRedirected = method === 'GET' && isEvent;
  const atPath = query === '' ? [] : [finding('query')];
  return [
    ...(method === 'POST' ? [] : [finding(isRedirected ? 'method/redirected' : 'method', { method })]),
    ...(path === WEBHOOK_PATH ? atPath : [finding('path', { words: pathMistake(path) })]),
  ];
}

/** Mistakes in a path, with their tests. The first mistake whose test matches is reported. */
const PATH_MISTAKES: Readonly<Record<string, (path: string) => boolean>> = {
  'The path is missing: the request went to /': (path) => path === '/',
  'The path ends with a slash': (path) => path === `${WEBHOOK_PATH}/`,
  'The path has two slashes in a row': (path) => path.replaceAll(/\/{2,}/g, '/') === WEBHOOK_PATH,
  'The path has capital letters': (path) => path.toLowerCase() === WEBHOOK_PATH,
  'The path is URL-encoded': (path) => path.includes('%'),
  'The beginning of the path is missing': (path) => WEBHOOK_PATH.endsWith(path),
  'The end of the path is missing': (path) => WEBHOOK_PATH.startsWith(path),
  'Something precedes the path': (path) => path.endsWith(WEBHOOK_PATH),
  'Something follows the path': (path) => path.startsWith(WEBHOOK_PATH),
  'The path is almost correct': (path) => nearest(path, [WEBHOOK_PATH]) !== undefined,
};

const pathMistake = (path: string) =>
  Object.entries(PATH_MISTAKES).find(([, isIt]) => isIt(path))?.[0] ?? 'The path is wrong';

/** Findings about headers and transport, for any signature. */
export function* transportFindings(
  request: SentRequest,
  secret: string,
  isAccepted: boolean,
): Generator<Finding> {
  const { method, headers, httpVersion } = request;
  if (method === 'POST') yield* contentTypeFindings(request, isAccepted);
  const coding = valuesOf(headers, 'content-encoding').join();
  if (COMPRESSION.test(coding))
    yield { ...finding('content-encoding'), grade: isAccepted ? 'risky' : 'wrong' };
  else if (!/^\s*(?:identity\s*)?$/i.test(coding)) yield finding('content-encoding-other');
  const place = secretPlace(request, secret);
  if (place !== undefined) yield finding('secret-sent', { place });
  const size = [method, targetOf(request), ...headers.map(([, value]) => value)].join('').length;
  if (size > MAX_HEAD_BYTES) yield finding('head-too-large', { size: `${size.toLocaleString('en')} bytes` });
  const version = /^\d\.\d$/.test(httpVersion) ? httpVersion : '?';
  if (httpVersion !== '1.1') yield finding('http-version', { version });
  const hosts = valuesOf(headers, 'host').length;
  if (hosts !== 1) yield finding(hosts === 0 ? 'host/missing' : 'host');
  if (valuesOf(headers, 'transfer-encoding').length > 0) yield finding('chunked');
  const expected = valuesOf(headers, 'expect').map((value) => value.trim().toLowerCase());
  if (expected.some((value) => value !== '100-continue')) yield finding('expect-other');
  else if (expected.length > 0) yield finding('expect');
}

/** Content codings (RFC 9110 §8.4.1, RFC 7932, RFC 8878). */
const COMPRESSION = /\b(?:gzip|deflate|compress|br|zstd)\b/i;

const OTHER_CHARSET = /;\s*charset=(?!"?utf-?8"?\s*(?:;|$))/i;

function* contentTypeFindings({ headers }: SentRequest, isAccepted: boolean): Generator<Finding> {
  const [value, ...others] = valuesOf(headers, 'content-type');
  const type = value?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (value === undefined) yield finding('content-type-missing');
  else if (others.length > 0) yield finding('content-type-twice');
  else if (type === 'application/x-www-form-urlencoded') {
    yield finding(isAccepted ? 'content-type-form/accepted' : 'content-type-form');
  } else if (type.startsWith('multipart/')) {
    yield { ...finding('content-type-multipart'), grade: isAccepted ? 'risky' : 'wrong' };
  } else if (type !== 'application/json') yield finding('content-type-other');
  else if (OTHER_CHARSET.test(value)) yield finding('content-type-charset');
}

/** Name of the part of a request that contains the secret. Undefined if no part contains the secret. */
function secretPlace(request: SentRequest, secret: string): string | undefined {
  const isIn = (text: string) => containsSecret(text, secret);
  if (isIn(targetOf(request))) return 'the URL';
  if (request.headers.some(([, value]) => isIn(value))) return 'a header';
  return isIn(request.body.toString()) ? 'the body' : undefined;
}

/** Bytes on a connection that are not a complete request. */
interface BrokenConnection {
  /** Code of the error of Node.js. @default none: the client disconnected */
  readonly code?: string | undefined;
  /** The last bytes read. */
  readonly packet?: Buffer | undefined;
  /** Number of bytes of the body that arrived. Undefined if the headers were incomplete. */
  readonly bytes: number | undefined;
  /** Whether the body so far is JSON, so that only Content-Length makes it incomplete. */
  readonly isWholeBody: boolean;
  /** Timeout of a request, in seconds. */
  readonly seconds: number;
}

/** First byte of a TLS handshake: its record type (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;

const FRAMING_ERROR =
  /^HPE_(?:(?:UNEXPECTED|INVALID)_CONTENT_LENGTH|INVALID_TRANSFER_ENCODING|INVALID_CHUNK_SIZE|CHUNK_EXTENSIONS_OVERFLOW)$/;

const HEAD_ERROR = /^HPE_(?:INVALID_HEADER_TOKEN|CR_EXPECTED|LF_EXPECTED|INVALID_VERSION|INVALID_URL)$/;
/** A complete request line with any method. */
const REQUEST_LINE = /^[A-Za-z-]+ \S+ HTTP\/1\.[01]\r?\n/;

/** A finding that says what the bytes are, such as TLS or a truncated body. */
export function connectionFinding(broken: BrokenConnection): Finding {
  const { code = '', packet = Buffer.alloc(0), bytes, seconds } = broken;
  const isFraming = FRAMING_ERROR.test(code);
  const arrived = bytes?.toLocaleString('en') ?? '';
  if (broken.isWholeBody && !isFraming) return finding('content-length-large', { bytes: arrived });
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return finding(bytes === undefined ? 'never-ended/headers' : 'never-ended', { seconds, bytes: arrived });
  }
  if (packet[0] === TLS_HANDSHAKE) return finding('tls');
  if (packet.subarray(0, 14).toString() === 'PRI * HTTP/2.0') return finding('http-2');
  if (code === 'HPE_HEADER_OVERFLOW') return finding('head-too-large', { size: 'more than 16 KB' });
  if (isFraming) return finding('framing');
  if (bytes !== undefined) return finding('broken-off', { when: `after ${arrived} bytes of the body` });
  if (['', 'ECONNRESET', 'HPE_INVALID_EOF_STATE'].includes(code)) {
    return finding('broken-off', { when: 'during the headers' });
  }
  if (HEAD_ERROR.test(code)) return finding('malformed-head');
  return finding(REQUEST_LINE.test(packet.toString('latin1')) ? 'method/unknown' : 'not-http');
}
