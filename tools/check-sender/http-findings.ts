import { type HttpRequest, valuesOf } from 'local-aws/http-message';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import { type Finding, risky, wrong } from './finding.ts';

/**
 * Maximum bytes of the request line and the headers' values together: the quota of an HTTP API
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html).
 */
const MAX_HEAD_BYTES = 10_240;

/** Minimum characters of a secret to search for. A text may contain a shorter secret by chance. */
const MIN_SECRET_LENGTH = 8;

/** Findings about method, address and headers, whatever the signature. */
export function* httpFindings(request: HttpRequest, body: Buffer, secret: string): Generator<Finding> {
  const { method, path, query, headers } = request;
  if (method !== 'POST') {
    const remedy = `Send POST ${WEBHOOK_PATH} to the final address. A client that follows a redirect turns a POST into a GET.`;
    yield wrong('method', 'The method is not POST.', remedy);
  }
  if (path !== WEBHOOK_PATH) yield wrong('path', pathMistake(path), `Send POST ${WEBHOOK_PATH}.`);
  else if (query !== '') yield risky('query', 'The URL has a query string, which is ignored.', 'Remove it.');
  const sendType = 'Send Content-Type: application/json, once.';
  const type = valuesOf(headers, 'content-type').join();
  if (!/^\s*application\/json\s*(?:;[^,]*)?$/i.test(type)) {
    const what =
      'Content-Type is not application/json. The service ignores it, but a proxy may change the body.';
    yield risky('content-type', what, sendType);
  } else if (/;\s*charset=(?!"?utf-?8"?\s*(?:;|$))/i.test(type)) {
    yield wrong('content-type-charset', 'Content-Type names a charset other than UTF-8.', sendType);
  }
  if (!/^\s*(?:identity\s*)?$/i.test(valuesOf(headers, 'content-encoding').join())) {
    const what = 'Content-Encoding says that the body is compressed. The service does not decompress it.';
    yield risky('content-encoding', what, 'Send the body uncompressed, without Content-Encoding.');
  }
  const target = `${path}?${query}`;
  const values = headers.map(([, value]) => value);
  if ([target, body.toString(), ...values].some((text) => contains(text, secret))) {
    const what = 'The request contains the secret itself.';
    yield wrong('secret-sent', what, 'Never send the secret. Change it now.');
  }
  const size = [method, target, ...values].join('').length;
  if (size > MAX_HEAD_BYTES) {
    const what = `URL and headers have ${size.toLocaleString('en')} bytes. API Gateway accepts 10 KB.`;
    yield wrong('head-too-large', what, 'Send fewer or shorter headers.');
  }
}

const contains = (text: string, secret: string) =>
  secret.length >= MIN_SECRET_LENGTH && text.includes(secret);

function pathMistake(path: string): string {
  if (path === '/') return 'The path is missing: the request went to /.';
  if (path === `${WEBHOOK_PATH}/`) return 'The path ends with a slash.';
  return 'The path is wrong.';
}

/** First byte of a TLS handshake: its record type (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;

/**
 * A finding about bytes that are not the head of a request.
 * @param error of Node.js' HTTP parser
 */
export function connectionFinding({
  code,
  rawPacket,
}: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }): Finding {
  if (rawPacket?.[0] === TLS_HANDSHAKE) {
    const what = 'The connection began with TLS. This checker speaks plain HTTP.';
    return wrong('tls', what, 'Send to http:// here. The real service accepts only https://.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return wrong('never-ended', 'The headers did not end in time.', 'Send an empty line after the headers.');
  const remedy = `Send POST ${WEBHOOK_PATH} with a library for HTTP.`;
  return wrong('not-http', 'These bytes are not an HTTP request.', remedy);
}

/** @param bytes of the body that have arrived */
export function incompleteFinding(bytes: number): Finding {
  const what = `The connection ended, or waited too long, after ${bytes.toLocaleString('en')} bytes of the body.`;
  const remedy = 'Content-Length must be the number of bytes of the body in UTF-8, not of characters.';
  return wrong('body-incomplete', what, remedy);
}
