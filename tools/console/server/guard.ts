import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { ApiProblem, forbidden } from './api-problem.ts';

/** Names of this computer in a browser. DNS rebinding can make any other name resolve to it. */
const HOSTS = ['localhost', '127.0.0.1', '[::1]'];

const READS = new Set(['GET', 'HEAD']);

const HTTP_PORT = 80;

/**
 * Middleware that admits only the console's own page, and clients that are not browsers. A page of another
 * origin can neither read an answer nor cause a change. The page gets its cookie: for the local stack
 * automatically, for a stage by the token in its address.
 */
export function guard(rules: SecurityRules): MiddlewareHandler {
  return async (c, next) => {
    const { method, path } = c.req;
    const isApi = path === '/api' || path.startsWith('/api/');
    const isRead = READS.has(method);
    requireOwnHost(c.req.header('host'), rules.port);
    requireOwnPage(c, isApi, rules.port);
    if (!isRead) requireChangeable(c, rules);
    if (path === '/' && isRead) {
      const redirection = admitPage(c, rules);
      if (redirection !== undefined) return redirection;
    }
    if (!isRead || (isApi && !rules.local)) requireCookie(c, rules);
    return next();
  };
}

export interface SecurityRules {
  readonly port: number;
  readonly token: string;
  /**
   * Whether the stack is local. Otherwise reading needs the cookie as well, because a stage's data is not the
   * developer's own.
   */
  readonly local: boolean;
  readonly readOnly: boolean;
}

/** Name of the cookie. It contains the port, because a browser shares cookies between all ports of a host. */
export const cookieName = (port: number) => `console-${port}`;

const authorities = (port: number) =>
  HOSTS.flatMap((host) => [`${host}:${port}`, ...(port === HTTP_PORT ? [host] : [])]);

function requireOwnHost(host: string | undefined, port: number): void {
  if (authorities(port).includes(String(host).toLowerCase())) return;
  throw new ApiProblem(
    'foreign-host',
    421,
    'Misdirected request',
    'The console only answers localhost, 127.0.0.1 and [::1] with its own port',
  );
}

/** @throws ApiProblem if another origin may have caused the request */
function requireOwnPage({ req }: Context, isApi: boolean, port: number): void {
  const { origin, 'sec-fetch-site': site, ...others } = req.header();
  if (origin !== undefined && !authorities(port).some((authority) => origin === `http://${authority}`)) {
    throw forbidden('foreign-origin', 'The console only answers its own page');
  }
  // Whether the request opens the page. Any site may link to the page, because no other origin can read or frame it.
  const isLink =
    req.method === 'GET' &&
    req.path === '/' &&
    others['sec-fetch-mode'] === 'navigate' &&
    others['sec-fetch-dest'] === 'document';
  const isOwn = site === undefined || site === 'same-origin' || (site === 'none' && !isApi) || isLink;
  if (!isOwn) throw forbidden('foreign-site', 'The console only answers its own page');
}

function requireChangeable({ req }: Context, { readOnly }: SecurityRules): void {
  if (readOnly) throw forbidden('read-only', 'The console was started with --read-only');
  if (/^application\/json\s*(;|$)/i.test(req.header('content-type') ?? '')) return;
  const detail = 'A request that changes something needs content-type: application/json';
  throw new ApiProblem('not-json', 415, 'Unsupported media type', detail);
}

/**
 * Sets the cookie of the page.
 * @returns a redirect to the address without the token
 */
function admitPage(c: Context, { local, token, port }: SecurityRules): Response | undefined {
  const given = c.req.query('token');
  if (given !== undefined && !isToken(given, token)) {
    throw forbidden('token', `This is not the token of the running console. ${whereToFind(local)}`);
  }
  if (local || given !== undefined) {
    // The path limits which requests carry the cookie to servers on other ports.
    setCookie(c, cookieName(port), token, { path: '/api', httpOnly: true, sameSite: 'Strict' });
  }
  return given === undefined ? undefined : c.redirect('/', 303);
}

function requireCookie(c: Context, { local, token, port }: SecurityRules): void {
  const name = cookieName(port);
  if (isToken(getCookie(c, name), token)) return;
  const detail = `The cookie ${name} is missing, or belongs to a console that is no longer running. ${whereToFind(local)}`;
  throw forbidden('cookie', detail);
}

const whereToFind = (local: boolean) =>
  local ? 'Reload the page' : 'Open the address that npx hookctl console printed';

/** Compares in constant time. The texts may differ in length. */
function isToken(given: string | undefined, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(hash(given), hash(token));
}

/**
 * Headers that protect the page. The page may load only its own script and style, and connect only to its own server.
 * No site may frame the page, and no other origin may read it.
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
  });
