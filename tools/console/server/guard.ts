import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { ApiProblem } from './api-problem.ts';

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

/**
 * Middleware that admits only the console's own page, and clients that are not browsers. A page of another
 * origin can neither read an answer nor cause a change. The page gets its cookie: for the local stack
 * automatically, for a stage by the token in its address.
 */
export function guard(rules: SecurityRules): MiddlewareHandler {
  return async (c, next) => {
    const { method, path } = c.req;
    const isApi = path.startsWith('/api');
    const isRead = method === 'GET' || method === 'HEAD';
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

/** Names of this computer in a browser. DNS rebinding can make any other name resolve to it. */
const HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Name of the cookie. It contains the port, because a browser shares cookies between all ports of a host. */
export const cookieName = (port: number) => `console-${port}`;

const forbidden = (detail: string) => new ApiProblem(403, detail);

/** @throws ApiProblem if another origin may have caused the request */
function requireOwnPage({ req }: Context, isApi: boolean, port: number): void {
  const { host = '', origin, 'sec-fetch-site': site, ...others } = req.header();
  // A browser leaves out the default port of HTTP.
  const authorities = HOSTS.map((name) => (port === 80 ? name : `${name}:${port}`));
  if (!authorities.includes(host.toLowerCase())) {
    const names = 'The console only answers localhost, 127.0.0.1 and [::1] with its own port';
    throw new ApiProblem(421, names);
  }
  const isForeign =
    origin !== undefined && !authorities.some((authority) => origin === `http://${authority}`);
  // Whether the request opens the page. Any site may link to the page, because no other origin can read or frame it.
  const isLink =
    req.method === 'GET' &&
    req.path === '/' &&
    others['sec-fetch-mode'] === 'navigate' &&
    others['sec-fetch-dest'] === 'document';
  const isOwn = site === undefined || site === 'same-origin' || (site === 'none' && !isApi) || isLink;
  if (isForeign || !isOwn) throw forbidden('The console only answers its own page');
}

function requireChangeable({ req }: Context, { readOnly }: SecurityRules): void {
  if (readOnly) throw forbidden('The console was started with --read-only');
  if (/^application\/json\s*(;|$)/i.test(req.header('content-type') ?? '')) return;
  throw new ApiProblem(415, 'A request that changes something needs content-type: application/json');
}

/**
 * Sets the cookie of the page.
 * @returns a redirect to the address without the token
 */
function admitPage(c: Context, { local, token, port }: SecurityRules): Response | undefined {
  const given = c.req.query('token');
  if (given !== undefined && !isToken(given, token)) {
    throw forbidden(`This is not the token of the running console. ${whereToFind(local)}`);
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
  const what = `The cookie ${name} is missing, or belongs to a console that is no longer running`;
  throw forbidden(`${what}. ${whereToFind(local)}`);
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
