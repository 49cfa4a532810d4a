import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { ApiProblem, forbidden } from './api-problem.ts';

export interface SecurityRules {
  readonly port: number;
  readonly token: string;
  /** If false, reading needs the cookie, too: a stage's data is not the developer's own. */
  readonly local: boolean;
  readonly readOnly: boolean;
}

/** A browser shares cookies between all ports of a host. */
export const cookieName = (port: number) => `console-${port}`;

/** Names of this computer in a browser. DNS rebinding can make any other name resolve to it. */
const HOSTS = ['localhost', '127.0.0.1', '[::1]'];

const READS = new Set(['GET', 'HEAD']);

/** Port that a `Host` header omits. */
const HTTP_PORT = 80;

/**
 * Answers only the console's own page and clients that are not browsers. A page of another origin can neither read an
 * answer nor cause a change. The local stack's page gets its cookie automatically, a stage's page by the token in its
 * address.
 */
export function guard(rules: SecurityRules): MiddlewareHandler {
  return async (c, next) => {
    const { local, readOnly, token } = rules;
    const { method, path } = c.req;
    const isApi = path === '/api' || path.startsWith('/api/');
    const isRead = READS.has(method);
    requireOwnOrigin(method, path, isApi, c.req.header(), rules.port);
    if (!isRead && readOnly) throw forbidden('read-only', 'The console was started with --read-only');
    if (!isRead && !isJson(c.req.header('content-type'))) {
      const detail = 'A request that changes something needs content-type: application/json';
      throw new ApiProblem('not-json', 415, 'Unsupported media type', detail);
    }
    const name = cookieName(rules.port);
    if (path === '/' && isRead) {
      const given = c.req.query('token');
      if (given !== undefined && !isToken(given, token)) {
        throw forbidden('token', `This is not the token of the running console. ${whereToFind(local)}`);
      }
      if (local || given !== undefined) {
        // Servers on other ports get this cookie only for the same path.
        setCookie(c, name, token, { path: '/api', httpOnly: true, sameSite: 'Strict' });
      }
      if (given !== undefined) return c.redirect('/', 303);
    }
    const needsCookie = !isRead || (isApi && !local);
    if (needsCookie && !isToken(getCookie(c, name), token)) {
      const detail = `The cookie ${name} is missing, or belongs to a console that is no longer running. ${whereToFind(local)}`;
      throw forbidden('cookie', detail);
    }
    return next();
  };
}

const whereToFind = (local: boolean) =>
  local ? 'Reload the page' : 'Open the address that npm run console printed';

/** @throws ApiProblem if another origin may have caused the request */
function requireOwnOrigin(
  method: string,
  path: string,
  isApi: boolean,
  headers: Readonly<Record<string, string>>,
  port: number,
): void {
  const authorities = HOSTS.flatMap((host) => [`${host}:${port}`, ...(port === HTTP_PORT ? [host] : [])]);
  if (!authorities.includes(String(headers.host).toLowerCase())) {
    throw new ApiProblem(
      'foreign-host',
      421,
      'Misdirected request',
      'The console only answers localhost, 127.0.0.1 and [::1] with its own port',
    );
  }
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && !authorities.some((authority) => origin === `http://${authority}`)) {
    throw forbidden('foreign-origin', 'The console only answers its own page');
  }
  // A typed address or a link from another site may open the page: other origins can neither read nor frame it.
  const isLink =
    method === 'GET' &&
    path === '/' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document';
  const isOwn = site === undefined || site === 'same-origin' || (site === 'none' && !isApi) || isLink;
  if (!isOwn) throw forbidden('foreign-site', 'The console only answers its own page');
}

const isJson = (contentType: string | undefined) =>
  contentType !== undefined && /^application\/json\s*(;|$)/i.test(contentType);

/** Compares in constant time, for any length. */
function isToken(given: string | undefined, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(hash(given), hash(token));
}

/**
 * The page may load its own script and style and connect to its own server. Nobody may frame it, and no other origin
 * may read it.
 */
export const securityHeaders = () =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
    // The console is served over HTTP.
    strictTransportSecurity: false,
    // Keeps headers set by a handler: the policy of the API description.
    overwrite: false,
  });
