import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { ENCODED_BODY_MEGABYTES } from '../../../lambda/limits.ts';
import { nearest } from '../../../lib/did-you-mean.ts';
import { valuesOf } from '../../../local/gateway/http-message.ts';
import { REDIRECT_PATH } from './answer-steps.ts';
import { type Finding, fine, risky, wrong } from './finding.ts';
import { holdsSecret, NEVER_SEND_SECRET } from './signature-values.ts';
import { type SentRequest, targetOf } from './signed-messages.ts';

/**
 * Bytes of the request line and the headers' values together: the quota of an HTTP API
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html).
 */
const MAX_HEAD_BYTES = 10_240;

const POST = `POST ${WEBHOOK_PATH}`;
const SEND_CONTENT_TYPE = 'Send Content-Type: application/json once.';
const FEWER_HEADERS = 'Send fewer or shorter headers. Cookies and tracing add up.';
const LET_CLIENT_COUNT = 'Let the HTTP client set Content-Length.';

/** Mistakes in the address, which make the service answer 404. */
export function addressFindings({ method, path, query, headers }: SentRequest): Finding[] {
  if (path === REDIRECT_PATH) return [REDIRECT_FOLLOWED];
  const isEvent = ['content-type', 'x-webhook-signature'].some((name) => valuesOf(headers, name).length > 0);
  const remedy =
    method === 'GET' && isEvent
      ? 'Send to the final address. A client that follows a redirect turns a POST into a GET without a body.'
      : `Send ${POST}.`;
  return [
    ...(method === 'POST' ? [] : [wrong('method', `The method is ${method}. It must be POST.`, remedy)]),
    ...(path === WEBHOOK_PATH ? [] : [wrong('path', pathMistake(path), `Send exactly ${POST}.`)]),
    ...(path === WEBHOOK_PATH && query !== '' ? [fine('query', 'The query string is ignored.')] : []),
  ];
}

const REDIRECT_FOLLOWED = wrong(
  'redirect-followed',
  'The sender followed the simulated redirect. The service never redirects.',
  'Turn off redirects in the HTTP client. Otherwise another host may get the event, or the service gets a GET without it. Treat 3xx as a failure, and repeat.',
);

/** The first that applies is used. */
const PATH_MISTAKES: Readonly<Record<string, (path: string) => boolean>> = {
  'The path is missing: the request went to /.': (path) => path === '/',
  'The path ends with a slash.': (path) => path === `${WEBHOOK_PATH}/`,
  'The path has two slashes in a row.': (path) => path.replaceAll(/\/{2,}/g, '/') === WEBHOOK_PATH,
  'The path has capital letters.': (path) => path.toLowerCase() === WEBHOOK_PATH,
  'The path is URL-encoded.': (path) => path.includes('%'),
  'The beginning of the path is missing.': (path) => WEBHOOK_PATH.endsWith(path),
  'The end of the path is missing.': (path) => WEBHOOK_PATH.startsWith(path),
  'Something precedes the path.': (path) => path.endsWith(WEBHOOK_PATH),
  'Something follows the path.': (path) => path.startsWith(WEBHOOK_PATH),
  'The path is almost correct.': (path) => nearest(path, [WEBHOOK_PATH]) !== undefined,
};

const pathMistake = (path: string) =>
  Object.entries(PATH_MISTAKES).find(([, isIt]) => isIt(path))?.[0] ?? 'The path is wrong.';

/** Findings about how a request was sent, whether or not its signature is right. */
export function transportFindings(request: SentRequest, secret: string, isAccepted: boolean): Finding[] {
  const type = request.method === 'POST' ? contentTypeFinding(request, isAccepted) : undefined;
  return [
    ...(type === undefined ? [] : [type]),
    ...contentEncodingFindings(request, isAccepted),
    ...requestFindings(request, secret),
  ];
}

function contentTypeFinding({ headers }: SentRequest, isAccepted: boolean): Finding | undefined {
  const [value, ...others] = valuesOf(headers, 'content-type');
  if (value === undefined)
    return risky('content-type-missing', 'Content-Type is missing.', SEND_CONTENT_TYPE);
  if (others.length > 0)
    return risky('content-type-twice', 'Content-Type was sent twice.', SEND_CONTENT_TYPE);
  const grade = isAccepted ? risky : wrong;
  const type = value.split(';')[0]?.trim().toLowerCase() ?? '';
  const works = `This works up to about ${ENCODED_BODY_MEGABYTES} MB.`;
  if (type === 'application/x-www-form-urlencoded') {
    const what = `Content-Type says that the body is a form${isAccepted ? `, but it is JSON. ${works}` : '.'}`;
    return grade('content-type-form', what, `${SEND_CONTENT_TYPE} curl -d sets this type by default.`);
  }
  if (type.startsWith('multipart/')) {
    const what = 'Content-Type says that the body is a multipart form.';
    return grade('content-type-multipart', what, SEND_CONTENT_TYPE);
  }
  if (type !== 'application/json') {
    const what = `Content-Type is not application/json. ${works}`;
    return risky('content-type-other', what, SEND_CONTENT_TYPE);
  }
  if (!/;\s*charset=(?!"?utf-?8"?\s*(?:;|$))/i.test(value)) return undefined;
  const what =
    'Content-Type names a charset other than UTF-8. It has no effect: the bytes are read as UTF-8.';
  return risky('content-type-charset', what, SEND_CONTENT_TYPE);
}

/** Content codings (RFC 9110 §8.4.1, RFC 7932, RFC 8878). */
const COMPRESSION = /\b(?:gzip|deflate|compress|br|zstd)\b/i;

function contentEncodingFindings({ headers }: SentRequest, isAccepted: boolean): Finding[] {
  const coding = valuesOf(headers, 'content-encoding').join();
  if (COMPRESSION.test(coding)) {
    const what = 'Content-Encoding says that the body is compressed. The service does not decompress.';
    const remedy = 'Send the body uncompressed, without this header.';
    return [(isAccepted ? risky : wrong)('content-encoding', what, remedy)];
  }
  if (/^\s*(?:identity\s*)?$/i.test(coding)) return [];
  const what = 'Content-Encoding names no compression, perhaps a charset such as utf-8. It has no effect.';
  return [risky('content-encoding-other', what, 'Omit this header. The body is read as UTF-8.')];
}

function* requestFindings(request: SentRequest, secret: string): Generator<Finding> {
  const { method, headers, httpVersion } = request;
  const place = secretPlace(request, secret);
  if (place !== undefined) {
    yield wrong('secret-sent', `The secret itself is in ${place}.`, NEVER_SEND_SECRET);
  }
  const size = [method, targetOf(request), ...headers.map(([, value]) => value)].join('').length;
  if (size > MAX_HEAD_BYTES) {
    const what = `Request line and headers have ${size.toLocaleString('en')} bytes. API Gateway accepts 10,240.`;
    yield wrong('head-too-large', what, FEWER_HEADERS);
  }
  if (httpVersion !== '1.1') {
    const version = /^\d\.\d$/.test(httpVersion) ? httpVersion : '?';
    const what = `The request used HTTP/${version}, which does not keep the connection open.`;
    yield risky('http-version', what, 'Use HTTP/1.1 or HTTP/2. AWS documents no other version.');
  }
  const hosts = valuesOf(headers, 'host').length;
  if (hosts !== 1) {
    const what = hosts === 0 ? 'Host is missing.' : 'Host was sent more than once.';
    yield risky('host', what, 'Send Host once. AWS finds the API by this header.');
  }
  if (valuesOf(headers, 'transfer-encoding').length > 0) {
    yield fine('chunked', 'The body was sent in chunks, without Content-Length.');
  }
  const expected = valuesOf(headers, 'expect');
  if (expected.some((value) => value.trim().toLowerCase() !== '100-continue')) {
    const what = 'Expect has a value other than 100-continue, the only one that HTTP defines.';
    yield risky('expect-other', what, 'Remove it. A server may answer 417.');
  } else if (expected.length > 0) {
    yield fine('expect', 'The sender asked before it sent the body (Expect: 100-continue).');
  }
}

/** Where in a request the secret is. */
function secretPlace(request: SentRequest, secret: string): string | undefined {
  const isIn = (text: string) => holdsSecret(text, secret);
  if (isIn(targetOf(request))) return 'the URL';
  if (request.headers.some(([, value]) => isIn(value))) return 'a header';
  return isIn(request.body.toString()) ? 'the body' : undefined;
}

/** Bytes on a connection that are not a request, or not a complete one. */
export interface BrokenConnection {
  /** Node's code of the error: `HPE_INVALID_METHOD`. @default the client disconnected */
  readonly code?: string | undefined;
  /** The last bytes read. @default none */
  readonly bytes?: Buffer | undefined;
  /** Bytes of the body that arrived. Undefined if the headers were not complete. */
  readonly bodyBytes: number | undefined;
  /** Whether these bytes are JSON, so that only Content-Length demands more. */
  readonly isWholeBody: boolean;
  /** Timeout of a request, in milliseconds. */
  readonly limitMilliseconds: number;
}

/** TLS record type of a handshake (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;

const FRAMING_ERROR =
  /^HPE_(?:(?:UNEXPECTED|INVALID)_CONTENT_LENGTH|INVALID_TRANSFER_ENCODING|INVALID_CHUNK_SIZE|CHUNK_EXTENSIONS_OVERFLOW)$/;

const HEAD_ERROR = /^HPE_(?:INVALID_HEADER_TOKEN|CR_EXPECTED|LF_EXPECTED|INVALID_VERSION|INVALID_URL)$/;

/** A request line with any method. */
const REQUEST_LINE = /^[A-Za-z-]+ \S+ HTTP\/1\.[01]\r?\n/;

/** What the bytes are if they are not a complete HTTP request. */
export function connectionFinding(broken: BrokenConnection): Finding {
  const { code = '', bytes = Buffer.alloc(0), bodyBytes } = broken;
  const isDisconnected = ['', 'ECONNRESET', 'HPE_INVALID_EOF_STATE'].includes(code);
  const unfinished = unfinishedFinding(broken);
  if (unfinished !== undefined) return unfinished;
  if (bytes[0] === TLS_HANDSHAKE) return TLS;
  if (bytes.subarray(0, 14).toString() === 'PRI * HTTP/2.0') return HTTP_2;
  if (code === 'HPE_HEADER_OVERFLOW') {
    const what = 'The headers have more than 16 KB. API Gateway accepts 10,240 bytes.';
    return wrong('head-too-large', what, FEWER_HEADERS);
  }
  if (FRAMING_ERROR.test(code)) return FRAMING;
  if (bodyBytes !== undefined || isDisconnected) {
    const when = bodyBytes === undefined ? 'during the headers' : `after ${count(bodyBytes)} of the body`;
    const remedy = 'Find out why: the timeout may be too short, or the process may have ended.';
    return wrong('broken-off', `The sender disconnected ${when}.`, remedy);
  }
  if (HEAD_ERROR.test(code)) return MALFORMED_HEAD;
  if (REQUEST_LINE.test(bytes.toString('latin1'))) return UNKNOWN_METHOD;
  return wrong('not-http', 'The bytes are not an HTTP request.', 'Use an HTTP/1.1 client for this port.');
}

const count = (bytes: number) => `${bytes.toLocaleString('en')} bytes`;

/** For a request that waits for more bytes than its sender sends. */
function unfinishedFinding(broken: BrokenConnection): Finding | undefined {
  const { code = '', bodyBytes = 0, isWholeBody, limitMilliseconds } = broken;
  if (isWholeBody && !FRAMING_ERROR.test(code)) {
    const what = `The JSON was complete after ${count(bodyBytes)}, but the request was not. Content-Length is larger than the body, or the last chunk is missing.`;
    return wrong('content-length-large', what, LET_CLIENT_COUNT);
  }
  if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') return undefined;
  const what = `A request was not complete after ${limitMilliseconds / 1000} s.`;
  if (broken.bodyBytes === undefined) {
    const remedy = 'End the headers with an empty line: CR LF twice.';
    return wrong('never-ended', `${what} Its headers never ended.`, remedy);
  }
  const remedy =
    'Check that Content-Length is the number of bytes of the body, and that all of them are sent.';
  return wrong('never-ended', `${what} Only ${count(bodyBytes)} of its body arrived.`, remedy);
}

const TLS = wrong(
  'tls',
  'The client used TLS. This checker accepts plain HTTP only.',
  'Use http:// here. The service itself accepts only https://.',
);

const HTTP_2 = wrong(
  'http-2',
  'The client used HTTP/2 without TLS. This checker accepts HTTP/1.1 only.',
  'Use HTTP/1.1 here. With the service, a client can choose HTTP/2 over TLS.',
);

const FRAMING = wrong(
  'framing',
  'Content-Length or Transfer-Encoding is invalid, was sent twice, or both were sent; or a chunk is invalid.',
  'Let the HTTP client set these headers.',
);

const MALFORMED_HEAD = wrong(
  'malformed-head',
  'The request line or a header is not valid HTTP, for example because of a line break in a value.',
  'Remove line breaks from the signature before you set it. Base64 tools and openssl add some.',
);

const UNKNOWN_METHOD = wrong(
  'method',
  'The method is unknown. It must be POST, in capital letters.',
  'Send POST, not post: the names of methods are case-sensitive. curl -X sends the name as it is.',
);

/** @param hasLength whether there is a Content-Length */
export const trailingBytesFinding = (hasLength: boolean): Finding =>
  wrong(
    'content-length-small',
    hasLength
      ? 'Content-Length is smaller than the body. The service reads only this many bytes.'
      : 'Bytes follow the end of the request. Without Content-Length it has no body.',
    'Let the HTTP client set Content-Length, or count bytes instead of characters: é has two.',
  );
