import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { ENCODED_BODY_MEGABYTES } from '../../../lambda/limits.ts';
import { nearest } from '../../../lib/did-you-mean.ts';
import { valuesOf } from '../../../local/gateway/http-message.ts';
import { type Finding, findingsOf, firstFinding, type Rule, wrong } from './finding.ts';
import { REDIRECT_PATH } from './responses.ts';
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

interface Sent {
  readonly request: SentRequest;
  readonly secret: string;
  /** Whether the service accepts the request as it is. */
  readonly isAccepted: boolean;
  readonly values: (header: string) => string[];
}

/** Mistakes in the address, which make the service answer 404. */
export function addressFindings(request: SentRequest): Finding[] {
  const { method, path, headers } = request;
  const isEvent = ['content-type', 'x-webhook-signature'].some((name) => valuesOf(headers, name).length > 0);
  if (path === REDIRECT_PATH) return [REDIRECT_FOLLOWED];
  const remedy =
    method === 'GET' && isEvent
      ? 'Send to the final address. A client that follows a redirect turns a POST into a GET without a body.'
      : `Send ${POST}.`;
  return [
    ...(method === 'POST'
      ? []
      : [wrong({ kind: 'method', what: `The method is ${method}. It must be POST.`, remedy })]),
    ...firstFinding(PATHS, request),
  ];
}

const REDIRECT_FOLLOWED = wrong({
  kind: 'redirect-followed',
  what: 'The sender followed the simulated redirect. The service never redirects.',
  remedy:
    'Turn off redirects in the HTTP client. Otherwise another host may get the event, or the service gets a GET without it. Treat 3xx as a failure, and repeat.',
});

const PATHS: readonly Rule<SentRequest>[] = [
  ...(
    [
      ['The path is missing: the request went to /.', (path) => path === '/'],
      ['The path ends with a slash.', (path) => path === `${WEBHOOK_PATH}/`],
      ['The path has two slashes in a row.', (path) => path.replaceAll(/\/{2,}/g, '/') === WEBHOOK_PATH],
      ['The path has capital letters.', (path) => path.toLowerCase() === WEBHOOK_PATH],
      ['The path is URL-encoded.', (path) => path.includes('%')],
      ['The beginning of the path is missing.', (path) => WEBHOOK_PATH.endsWith(path)],
      ['The end of the path is missing.', (path) => WEBHOOK_PATH.startsWith(path)],
      ['Something precedes the path.', (path) => path.endsWith(WEBHOOK_PATH)],
      ['Something follows the path.', (path) => path.startsWith(WEBHOOK_PATH)],
      ['The path is almost correct.', (path) => nearest(path, [WEBHOOK_PATH]) !== undefined],
      ['The path is wrong.', () => true],
    ] satisfies [string, (path: string) => boolean][]
  ).map(
    ([what, isIt]): Rule<SentRequest> => ({
      kind: 'path',
      applies: ({ path }) => path !== WEBHOOK_PATH && isIt(path),
      what,
      remedy: `Send exactly ${POST}.`,
    }),
  ),
  {
    grade: 'fine',
    kind: 'query',
    applies: ({ query }) => query !== '',
    what: 'The query string is ignored.',
  },
];

/** Findings about how a request was sent, whether or not its signature is right. */
export function transportFindings(request: SentRequest, secret: string, isAccepted: boolean): Finding[] {
  const values = (header: string) => valuesOf(request.headers, header);
  const sent = { request, secret, isAccepted, values };
  return [
    ...(request.method === 'POST' ? firstFinding(CONTENT_TYPES, sent) : []),
    ...findingsOf(TRANSPORT, sent),
  ];
}

const mediaType = ({ values }: Sent) => values('content-type')[0]?.split(';')[0]?.trim().toLowerCase() ?? '';

const riskyIfAccepted = ({ isAccepted }: Sent) => (isAccepted ? 'risky' : 'wrong');

/** The first rule that applies is used. */
const CONTENT_TYPES: readonly Rule<Sent>[] = [
  {
    grade: 'risky',
    kind: 'content-type-missing',
    applies: ({ values }) => values('content-type').length === 0,
    what: 'Content-Type is missing.',
    remedy: SEND_CONTENT_TYPE,
  },
  {
    grade: 'risky',
    kind: 'content-type-twice',
    applies: ({ values }) => values('content-type').length > 1,
    what: 'Content-Type was sent twice.',
    remedy: SEND_CONTENT_TYPE,
  },
  {
    grade: riskyIfAccepted,
    kind: 'content-type-form',
    applies: (sent) => mediaType(sent) === 'application/x-www-form-urlencoded',
    what: ({ isAccepted }) =>
      `Content-Type says that the body is a form${isAccepted ? `, but it is JSON. This works up to about ${ENCODED_BODY_MEGABYTES} MB` : ''}.`,
    remedy: `${SEND_CONTENT_TYPE} curl -d sets this type by default.`,
  },
  {
    grade: riskyIfAccepted,
    kind: 'content-type-multipart',
    applies: (sent) => mediaType(sent).startsWith('multipart/'),
    what: 'Content-Type says that the body is a multipart form.',
    remedy: SEND_CONTENT_TYPE,
  },
  {
    grade: 'risky',
    kind: 'content-type-other',
    applies: (sent) => mediaType(sent) !== 'application/json',
    what: `Content-Type is not application/json. This works up to about ${ENCODED_BODY_MEGABYTES} MB.`,
    remedy: SEND_CONTENT_TYPE,
  },
  {
    grade: 'risky',
    kind: 'content-type-charset',
    applies: ({ values }) => /;\s*charset=(?!"?utf-?8"?\s*(?:;|$))/i.test(values('content-type')[0] ?? ''),
    what: 'Content-Type names a charset other than UTF-8. It has no effect: the bytes are read as UTF-8.',
    remedy: SEND_CONTENT_TYPE,
  },
];

const headSize = ({ request: { method, headers }, request }: Sent) =>
  [method, targetOf(request), ...headers.map(([, value]) => value)].join('').length;

/** Content codings (RFC 9110 §8.4.1, RFC 7932, RFC 8878). */
const COMPRESSION = /\b(?:gzip|deflate|compress|br|zstd)\b/i;

/** Places in a request that contain the secret. */
function secretPlace({ request, secret }: Sent): string | undefined {
  const places: [place: string, text: string][] = [
    ['the URL', targetOf(request)],
    ...request.headers.map(([, value]): [string, string] => ['a header', value]),
    ['the body', request.body.toString()],
  ];
  return places.find(([, text]) => holdsSecret(text, secret))?.[0];
}

/** All rules that apply are used. */
const TRANSPORT: readonly Rule<Sent>[] = [
  {
    grade: riskyIfAccepted,
    kind: 'content-encoding',
    applies: ({ values }) => COMPRESSION.test(values('content-encoding').join()),
    what: 'Content-Encoding says that the body is compressed. The service does not decompress.',
    remedy: 'Send the body uncompressed, without this header.',
  },
  {
    grade: 'risky',
    kind: 'content-encoding-other',
    applies: ({ values }) => {
      const value = values('content-encoding').join();
      return !COMPRESSION.test(value) && !/^\s*(?:identity\s*)?$/i.test(value);
    },
    what: 'Content-Encoding names no compression, perhaps a charset such as utf-8. It has no effect.',
    remedy: 'Omit this header. The body is read as UTF-8.',
  },
  {
    kind: 'secret-sent',
    applies: (sent) => secretPlace(sent) !== undefined,
    what: (sent) => `The secret itself is in ${secretPlace(sent)}.`,
    remedy: NEVER_SEND_SECRET,
  },
  {
    kind: 'head-too-large',
    applies: (sent) => headSize(sent) > MAX_HEAD_BYTES,
    what: (sent) =>
      `Request line and headers have ${headSize(sent).toLocaleString('en')} bytes. API Gateway accepts 10,240.`,
    remedy: FEWER_HEADERS,
  },
  {
    grade: 'risky',
    kind: 'http-version',
    applies: ({ request }) => request.httpVersion !== '1.1',
    what: ({ request: { httpVersion } }) =>
      `The request used HTTP/${/^\d\.\d$/.test(httpVersion) ? httpVersion : '?'}, which does not keep the connection open.`,
    remedy: 'Use HTTP/1.1 or HTTP/2. AWS documents no other version.',
  },
  {
    grade: 'risky',
    kind: 'host',
    applies: ({ values }) => values('host').length !== 1,
    what: ({ values }) =>
      values('host').length === 0 ? 'Host is missing.' : 'Host was sent more than once.',
    remedy: 'Send Host once. AWS finds the API by this header.',
  },
  {
    grade: 'fine',
    kind: 'chunked',
    applies: ({ values }) => values('transfer-encoding').length > 0,
    what: 'The body was sent in chunks, without Content-Length.',
  },
  {
    grade: 'risky',
    kind: 'expect-other',
    applies: ({ values }) => values('expect').some((value) => !isContinue(value)),
    what: 'Expect has a value other than 100-continue, the only one that HTTP defines.',
    remedy: 'Remove it. A server may answer 417.',
  },
  {
    grade: 'fine',
    kind: 'expect',
    applies: ({ values }) => values('expect').length > 0 && values('expect').every(isContinue),
    what: 'The sender asked before it sent the body (Expect: 100-continue).',
  },
];

const isContinue = (value: string) => value.trim().toLowerCase() === '100-continue';

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

const isTimeout = ({ code }: BrokenConnection) => code === 'ERR_HTTP_REQUEST_TIMEOUT';

/** TLS record type of a handshake (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;

const FRAMING_ERROR =
  /^HPE_(?:(?:UNEXPECTED|INVALID)_CONTENT_LENGTH|INVALID_TRANSFER_ENCODING|INVALID_CHUNK_SIZE|CHUNK_EXTENSIONS_OVERFLOW)$/;

const HEAD_ERROR = /^HPE_(?:INVALID_HEADER_TOKEN|CR_EXPECTED|LF_EXPECTED|INVALID_VERSION|INVALID_URL)$/;

/** A request line with any method. */
const REQUEST_LINE = /^[A-Za-z-]+ \S+ HTTP\/1\.[01]\r?\n/;

/** What the bytes are if they are not an HTTP request. The first rule that applies is used. */
const CONNECTIONS: readonly Rule<BrokenConnection>[] = [
  {
    kind: 'content-length-large',
    applies: ({ isWholeBody, code = '' }) => isWholeBody && !FRAMING_ERROR.test(code),
    what: ({ bodyBytes = 0 }) =>
      `The JSON was complete after ${bodyBytes.toLocaleString('en')} bytes, but the request was not. Content-Length is larger than the body, or the last chunk is missing.`,
    remedy: 'Let the HTTP client set Content-Length.',
  },
  {
    kind: 'never-ended',
    applies: (broken) => isTimeout(broken) && broken.bodyBytes === undefined,
    what: ({ limitMilliseconds }) =>
      `A request was not complete after ${limitMilliseconds / 1000} s. Its headers never ended.`,
    remedy: 'End the headers with an empty line: CR LF twice.',
  },
  {
    kind: 'never-ended',
    applies: isTimeout,
    what: ({ limitMilliseconds, bodyBytes = 0 }) =>
      `A request was not complete after ${limitMilliseconds / 1000} s. Only ${bodyBytes.toLocaleString('en')} bytes of its body arrived.`,
    remedy: 'Check that Content-Length is the number of bytes of the body, and that all of them are sent.',
  },
  {
    kind: 'tls',
    applies: ({ bytes }) => bytes?.[0] === TLS_HANDSHAKE,
    what: 'The client used TLS. This checker accepts plain HTTP only.',
    remedy: 'Use http:// here. The service itself accepts only https://.',
  },
  {
    kind: 'http-2',
    applies: ({ bytes }) => bytes?.subarray(0, 14).toString() === 'PRI * HTTP/2.0',
    what: 'The client used HTTP/2 without TLS. This checker accepts HTTP/1.1 only.',
    remedy: 'Use HTTP/1.1 here. With the service, a client can choose HTTP/2 over TLS.',
  },
  {
    kind: 'head-too-large',
    applies: ({ code }) => code === 'HPE_HEADER_OVERFLOW',
    what: 'The headers have more than 16 KB. API Gateway accepts 10,240 bytes.',
    remedy: FEWER_HEADERS,
  },
  {
    kind: 'framing',
    applies: ({ code = '' }) => FRAMING_ERROR.test(code),
    what: 'Content-Length or Transfer-Encoding is invalid, was sent twice, or both were sent; or a chunk is invalid.',
    remedy: 'Let the HTTP client set these headers.',
  },
  {
    kind: 'broken-off',
    applies: ({ code, bodyBytes }) =>
      bodyBytes !== undefined || ['ECONNRESET', 'HPE_INVALID_EOF_STATE', undefined].includes(code),
    what: ({ bodyBytes }) =>
      `The sender disconnected ${bodyBytes === undefined ? 'during the headers' : `after ${bodyBytes.toLocaleString('en')} bytes of the body`}.`,
    remedy: 'Find out why: the timeout may be too short, or the process may have ended.',
  },
  {
    kind: 'malformed-head',
    applies: ({ code = '' }) => HEAD_ERROR.test(code),
    what: 'The request line or a header is not valid HTTP, for example because of a line break in a value.',
    remedy: 'Remove line breaks from the signature before you set it. Base64 tools and openssl add some.',
  },
  {
    kind: 'method',
    applies: ({ bytes }) => REQUEST_LINE.test(bytes?.toString('latin1') ?? ''),
    what: 'The method is unknown. It must be POST, in capital letters.',
    remedy: 'Send POST, not post: the names of methods are case-sensitive. curl -X sends the name as it is.',
  },
  {
    kind: 'not-http',
    applies: () => true,
    what: 'The bytes are not an HTTP request.',
    remedy: 'Use an HTTP/1.1 client for this port.',
  },
];

export const connectionFindings = (broken: BrokenConnection) => firstFinding(CONNECTIONS, broken);
