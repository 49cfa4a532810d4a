import { createHash, timingSafeEqual } from 'node:crypto';
import { TOKEN_HEADER } from '../api.ts';
import { Problem } from './problem.ts';

/** What a request is judged by. */
export interface JudgedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** As Node.js gives them: names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface SecurityRules {
  /** Port that the console listens on. */
  readonly port: number;
  readonly token: string;
  /** Of a stage the token is needed to read, too: what it holds is not a developer's own. */
  readonly local: boolean;
  readonly readOnly: boolean;
}

/** Names of this machine that a browser may call the console by: any other is a name that somebody else resolves. */
const HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Methods that change nothing. */
const READS = new Set(['GET', 'HEAD']);

/** Port that a `Host` leaves out. */
const HTTP_PORT = 80;

/**
 * Whether a request may be answered. A page of another origin can neither read an answer nor cause a change, whichever
 * name it resolves to this machine (DNS rebinding).
 * @returns what is against it
 */
export function judge(request: JudgedRequest, rules: SecurityRules): Problem | undefined {
  const { method, path, headers } = request;
  const authorities = HOSTS.flatMap((host) => [
    `${host}:${rules.port}`,
    ...(rules.port === HTTP_PORT ? [host] : []),
  ]);
  if (!authorities.includes(String(headers.host).toLowerCase())) {
    return new Problem(
      'foreign-host',
      421,
      'Misdirected request',
      'The console answers to localhost, 127.0.0.1 and [::1] with its own port',
    );
  }
  const { origin } = headers;
  if (origin !== undefined && !authorities.some((authority) => origin === `http://${authority}`)) {
    return forbidden('foreign-origin', 'The console answers to its own page only');
  }
  if (isForeign(request)) {
    return forbidden('foreign-site', 'The console answers to its own page only');
  }
  const isApi = path === '/api' || path.startsWith('/api/');
  const isRead = READS.has(method);
  if (isRead && (rules.local || !isApi)) return undefined;
  if (!isRead) {
    if (rules.readOnly) return forbidden('read-only', 'The console was started with --read-only');
    if (!isJson(headers['content-type'])) {
      return new Problem(
        'not-json',
        415,
        'Unsupported media type',
        'What changes something has content-type application/json',
      );
    }
  }
  if (!isToken(headers[TOKEN_HEADER], rules.token)) {
    return forbidden('token', `The header ${TOKEN_HEADER} is not this console’s token: load the page anew`);
  }
  return undefined;
}

/**
 * Whether the browser says that another site caused the request. Another port of this machine is the same site, and not
 * the same origin. A link from anywhere may lead to the page, which nobody else can read or frame.
 */
function isForeign({ method, path, headers }: JudgedRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  const isLink =
    method === 'GET' &&
    path === '/' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document';
  return !isLink;
}

const forbidden = (kind: string, detail: string) => new Problem(kind, 403, 'Forbidden', detail);

const isJson = (contentType: string | string[] | undefined) =>
  typeof contentType === 'string' && /^application\/json\s*(;|$)/i.test(contentType);

/** In constant time, whatever the length. */
function isToken(given: string | string[] | undefined, token: string): boolean {
  if (typeof given !== 'string') return false;
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}

/**
 * Headers of every answer. The page loads its own script and style, and talks to its own server; nobody frames it, and
 * no other origin reads it.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
