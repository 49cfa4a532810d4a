import { type HttpRequest, valuesOf } from 'local-aws/gateway';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import { nearest } from '../../lib/did-you-mean.ts';
import { type Finding, note, risky, wrong } from './finding.ts';

/**
 * Maximum bytes of the request line and the headers' values together: the quota of an HTTP API
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html).
 */
const MAX_HEAD_BYTES = 10_240;

/** Minimum characters of a secret to search for. A text may contain a shorter secret by chance. */
const MIN_SECRET_LENGTH = 8;

const SEND_TYPE = 'Send Content-Type: application/json.';

/** Findings about method, address and headers, whatever the signature. */
export function* httpFindings(request: HttpRequest, body: Buffer, secret: string): Generator<Finding> {
  const { method, path, query, headers } = request;
  if (method !== 'POST') {
    const remedy = `Send POST ${WEBHOOK_PATH} to the final address. A client that follows a redirect turns a POST into a GET.`;
    yield wrong('method', `The method is not POST.`, remedy);
  }
  if (path !== WEBHOOK_PATH) yield wrong('path', `${pathMistake(path)}.`, `Send POST ${WEBHOOK_PATH}.`);
  else if (query !== '') yield risky('query', 'The URL has a query string, which is ignored.', 'Remove it.');
  yield* headerFindings(request);
  const target = `${path}?${query}`;
  if (
    contains(target, secret) ||
    contains(body.toString(), secret) ||
    headers.some(([, value]) => contains(value, secret))
  ) {
    yield wrong(
      'secret-sent',
      'The request contains the secret itself.',
      'Never send the secret. Change it now.',
    );
  }
  const size = [method, target, ...headers.map(([, value]) => value)].join('').length;
  if (size > MAX_HEAD_BYTES) {
    yield wrong(
      'head-too-large',
      `URL and headers have ${size.toLocaleString('en')} bytes. API Gateway accepts 10 KB.`,
      'Send fewer or shorter headers.',
    );
  }
}

const contains = (text: string, secret: string) =>
  secret.length >= MIN_SECRET_LENGTH && text.includes(secret);

function* headerFindings({ headers, httpVersion }: HttpRequest): Generator<Finding> {
  const [type, ...others] = valuesOf(headers, 'content-type');
  const name = type?.split(';')[0]?.trim().toLowerCase();
  if (others.length > 0) yield wrong('content-type-twice', 'Content-Type was sent twice.', SEND_TYPE);
  else if (name !== 'application/json') {
    const what = name === undefined ? 'Content-Type is missing.' : 'Content-Type is not application/json.';
    yield risky(
      'content-type',
      `${what} The service ignores it, but a proxy may change the body.`,
      SEND_TYPE,
    );
  } else if (/;\s*charset=(?!"?utf-?8"?\s*(?:;|$))/i.test(type ?? '')) {
    yield wrong(
      'content-type-charset',
      'Content-Type names a charset other than UTF-8.',
      'JSON is UTF-8. Remove the charset.',
    );
  }
  const coding = valuesOf(headers, 'content-encoding').join();
  if (!/^\s*(?:identity\s*)?$/i.test(coding)) {
    yield risky(
      'content-encoding',
      'Content-Encoding says that the body is compressed. The service does not decompress it.',
      'Send the body uncompressed, without Content-Encoding.',
    );
  }
  if (httpVersion !== '1.1')
    yield risky('http-version', 'The request is not HTTP/1.1.', 'Use HTTP/1.1 or HTTP/2 over TLS.');
  if (valuesOf(headers, 'host').length !== 1)
    yield wrong('host', 'The request must have one Host header.', 'Use an HTTP client that sends it.');
  if (valuesOf(headers, 'transfer-encoding').length > 0)
    yield note('chunked', 'The body was sent in chunks, without Content-Length. That works.');
}

/** Mistakes in a path, with their tests. The first mistake whose test matches is reported. */
const PATH_MISTAKES: readonly (readonly [what: string, isIt: (path: string) => boolean])[] = [
  ['The path is missing: the request went to /', (path) => path === '/'],
  ['The path ends with a slash', (path) => path === `${WEBHOOK_PATH}/`],
  ['The path has two slashes in a row', (path) => path.replaceAll(/\/{2,}/g, '/') === WEBHOOK_PATH],
  ['The path has capital letters', (path) => path.toLowerCase() === WEBHOOK_PATH],
  ['The path is URL-encoded', (path) => path.includes('%')],
  ['The beginning of the path is missing', (path) => WEBHOOK_PATH.endsWith(path)],
  ['The end of the path is missing', (path) => WEBHOOK_PATH.startsWith(path)],
  ['Something precedes the path', (path) => path.endsWith(WEBHOOK_PATH)],
  ['Something follows the path', (path) => path.startsWith(WEBHOOK_PATH)],
  ['The path is almost correct', (path) => nearest(path, [WEBHOOK_PATH]) !== undefined],
];

const pathMistake = (path: string) =>
  PATH_MISTAKES.find(([, isIt]) => isIt(path))?.[0] ?? 'The path is wrong';

/** First byte of a TLS handshake: its record type (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;

/**
 * A finding about bytes that are not a complete request.
 * @param error of Node.js' HTTP parser
 * @param bytes of the body that have arrived; undefined if the headers are incomplete
 */
export function connectionFinding(
  { code = '', rawPacket }: NodeJS.ErrnoException & { readonly rawPacket?: Buffer },
  bytes: number | undefined,
): Finding {
  if (rawPacket?.[0] === TLS_HANDSHAKE)
    return wrong(
      'tls',
      'The connection began with TLS. This checker speaks plain HTTP.',
      'Send to http:// here. The real service accepts only https://.',
    );
  if (rawPacket?.subarray(0, 14).toString() === 'PRI * HTTP/2.0')
    return wrong(
      'http-2',
      'The connection began with HTTP/2. This checker speaks HTTP/1.1.',
      'Use HTTP/1.1 here.',
    );
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return wrong(
      'never-ended',
      'The request did not end in time.',
      bytes === undefined
        ? 'Send an empty line after the headers.'
        : 'Content-Length is larger than the body, or the last chunk is missing.',
    );
  }
  if (bytes !== undefined) {
    return wrong(
      'broken-off',
      `The connection closed after ${bytes.toLocaleString('en')} bytes of the body.`,
      'Content-Length must be the number of bytes of the body in UTF-8, not the number of characters.',
    );
  }
  return wrong(
    'not-http',
    'These bytes are not an HTTP request.',
    `Send POST ${WEBHOOK_PATH} with a library for HTTP.`,
  );
}
