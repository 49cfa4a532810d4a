import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { nearest } from '../../../lib/nearest.ts';
import { valuesOf } from '../../../local/gateway/http-message.ts';
import { type Finding, fine, risky, wrong } from './finding.ts';
import { REDIRECTED_PATH } from './play.ts';
import { type SentRequest, targetOf } from './sent-request.ts';
import { holdsSecret } from './signature/secret-in-text.ts';

/**
 * Bytes of the request line and the headers' values together: the quota of an HTTP API
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html).
 */
const HEAD_LIMIT_BYTES = 10_240;

const POST = `POST ${WEBHOOK_PATH}`;

/** What leads a request to the service or past it: the answer is 404 where one of them is wrong. */
export function addressFindings(request: SentRequest): Finding[] {
  if (request.path === REDIRECTED_PATH) return [redirectFollowed];
  return [...methodFindings(request), ...pathFindings(request)];
}

const redirectFollowed = wrong({
  kind: 'redirect-followed',
  what: 'The sender followed the redirect that was played. The service never redirects.',
  remedy:
    'Turn redirects off in the HTTP client: another host would get the event, or the service a GET without it. Treat 3xx as a failure, and repeat.',
});

function methodFindings({ method, headers }: SentRequest): Finding[] {
  if (method === 'POST') return [];
  const isSent =
    valuesOf(headers, 'content-type').length > 0 || valuesOf(headers, 'x-webhook-signature').length > 0;
  return [
    wrong({
      kind: 'method',
      what: `The method is ${method}, and must be POST.`,
      remedy:
        method === 'GET' && isSent
          ? 'Send to the final address: a client that follows a redirect makes a GET without a body of a POST.'
          : `Send ${POST}.`,
    }),
  ];
}

const PATH_MISTAKES: readonly (readonly [isIt: (path: string) => boolean, what: string])[] = [
  [(path) => path === '/', 'The path is missing: the request went to /.'],
  [(path) => path === `${WEBHOOK_PATH}/`, 'The path has a slash at its end.'],
  [(path) => path.replaceAll(/\/{2,}/g, '/') === WEBHOOK_PATH, 'The path has two slashes in a row.'],
  [(path) => path.toLowerCase() === WEBHOOK_PATH, 'The path has capital letters.'],
  [(path) => path.includes('%'), 'The path has the escapes of a URL.'],
  [(path) => WEBHOOK_PATH.endsWith(path) && path.length > 1, 'The beginning of the path is missing.'],
  [(path) => WEBHOOK_PATH.startsWith(path), 'The end of the path is missing.'],
  [(path) => path.endsWith(WEBHOOK_PATH), 'Something stands before the path.'],
  [(path) => path.startsWith(WEBHOOK_PATH), 'Something stands after the path.'],
  [(path) => nearest(path, [WEBHOOK_PATH]) !== undefined, 'The path is nearly right.'],
];

function pathFindings({ path, query }: SentRequest): Finding[] {
  if (path !== WEBHOOK_PATH) {
    const [, what = 'The path is another one.'] = PATH_MISTAKES.find(([isIt]) => isIt(path)) ?? [];
    return [wrong({ kind: 'path', what, remedy: `Send ${POST}, letter by letter.` })];
  }
  return query === '' ? [] : [fine({ kind: 'query', what: 'The query string is not read.' })];
}

/**
 * What there is to say of the way that a request came, whether or not its signature is right.
 * @param isAccepted whether the service takes it as it is
 */
export function transportFindings(request: SentRequest, secret: string, isAccepted: boolean): Finding[] {
  return [
    ...contentTypeFindings(request, isAccepted),
    ...contentEncodingFindings(request, isAccepted),
    ...secretFindings(request, secret),
    ...headFindings(request),
  ];
}

function contentTypeFindings({ method, headers }: SentRequest, isAccepted: boolean): Finding[] {
  if (method !== 'POST') return [];
  const values = valuesOf(headers, 'content-type');
  const [value] = values;
  const grade = isAccepted ? risky : wrong;
  const remedy = 'Send Content-Type: application/json, once.';
  if (value === undefined) {
    return [risky({ kind: 'content-type-missing', what: 'There is no Content-Type.', remedy })];
  }
  if (values.length > 1)
    return [risky({ kind: 'content-type-twice', what: 'Content-Type is there twice.', remedy })];
  const [mediaType = '', ...parameters] = value.split(';').map((part) => part.trim().toLowerCase());
  if (mediaType === 'application/x-www-form-urlencoded') {
    const what = isAccepted
      ? 'Content-Type says that it is a form, and it is JSON. It works up to some 4.5 MB.'
      : 'Content-Type says that it is a form.';
    return [
      grade({
        kind: 'content-type-form',
        what,
        remedy: `${remedy} curl -d sets this one unless it is told.`,
      }),
    ];
  }
  if (mediaType.startsWith('multipart/')) {
    const what = 'Content-Type says that it is a multipart form.';
    return [grade({ kind: 'content-type-multipart', what, remedy })];
  }
  if (mediaType !== 'application/json') {
    const what = 'Content-Type is another than application/json. It works up to some 4.5 MB.';
    return [risky({ kind: 'content-type-other', what, remedy })];
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset === undefined || /^"?utf-?8"?$/.test(charset)) return [];
  const what =
    'Content-Type names another charset than UTF-8, which changes nothing: the bytes are read as UTF-8.';
  return [risky({ kind: 'content-type-charset', what, remedy })];
}

function contentEncodingFindings({ headers }: SentRequest, isAccepted: boolean): Finding[] {
  const encoding = valuesOf(headers, 'content-encoding').join(',').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return [];
  return [
    (isAccepted ? risky : wrong)({
      kind: 'content-encoding',
      what: 'Content-Encoding says that the body is compressed: the service decompresses nothing.',
      remedy: 'Send it uncompressed, and without that header.',
    }),
  ];
}

function secretFindings(request: SentRequest, secret: string): Finding[] {
  const places: [where: string, text: string][] = [
    ['the address', targetOf(request)],
    ...request.headers.map(([, value]): [string, string] => ['a header', value]),
    ['the body', request.body.toString()],
  ];
  const [where] = places.find(([, text]) => holdsSecret(text, secret)) ?? [];
  if (where === undefined) return [];
  return [
    wrong({
      kind: 'secret-sent',
      what: `The secret itself is in ${where}.`,
      remedy:
        'Never send it: it is the key of the HMAC. Take it for known to others now, and agree on another.',
    }),
  ];
}

function headFindings(request: SentRequest): Finding[] {
  const { headers, httpVersion, method } = request;
  const all: Finding[] = [];
  const size = [method, targetOf(request), ...headers.map(([, value]) => value)].join('').length;
  if (size > HEAD_LIMIT_BYTES) {
    const what = `The request line and the headers have ${size.toLocaleString('en')} bytes: API Gateway takes 10,240.`;
    all.push(
      wrong({ kind: 'head-too-large', what, remedy: 'Send fewer headers: cookies and tracing add up.' }),
    );
  }
  if (httpVersion !== '1.1') {
    const what = `It came by HTTP/${/^\d\.\d$/.test(httpVersion) ? httpVersion : '?'}, which keeps no connection open.`;
    all.push(
      risky({ kind: 'http-version', what, remedy: 'Use HTTP/1.1 or HTTP/2: AWS documents no other.' }),
    );
  }
  const hosts = valuesOf(headers, 'host');
  if (hosts.length !== 1) {
    const what = hosts.length === 0 ? 'There is no Host.' : 'Host is there more than once.';
    all.push(risky({ kind: 'host', what, remedy: 'Send Host once: AWS finds the API by it.' }));
  }
  const framing = valuesOf(headers, 'transfer-encoding').length > 0;
  if (framing) all.push(fine({ kind: 'chunked', what: 'The body came in chunks, without Content-Length.' }));
  const expectations = valuesOf(headers, 'expect');
  if (expectations.some((value) => value.trim().toLowerCase() !== '100-continue')) {
    const what = 'Expect holds something else than 100-continue, the only value that HTTP has for it.';
    all.push(risky({ kind: 'expect-other', what, remedy: 'Leave it out: a server may answer 417.' }));
  } else if (expectations.length > 0) {
    all.push(fine({ kind: 'expect', what: 'It asked before it sent the body (Expect: 100-continue).' }));
  }
  return all;
}
