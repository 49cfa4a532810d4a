import { isOwnHost } from '../aws/own-host.ts';

/** Who a request to the webhook port comes from, by its `Host`. */
export type Origin = 'here' | 'public' | 'foreign';

/** Addresses by which only this machine reaches itself (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\])$/;

const ADDRESS = /^([\d.]+|\[.*\])$/;

/**
 * A tunnel forwards to loopback, with the name that it is reached by outside. So may a web page whose name was led to
 * 127.0.0.1 (DNS rebinding), which with the secret that everybody knows could sign, too: only names that the stack was
 * started with are let in.
 * @param publicHosts in lower case, without ports
 */
export function originOf(host: string | undefined, publicHosts: readonly string[]): Origin {
  const name = (host ?? '').toLowerCase().replace(/:\d+$/, '');
  const isHere = ADDRESS.test(name) ? LOOPBACK.test(name) : isOwnHost(name);
  if (isHere) return 'here';
  return publicHosts.includes(name) ? 'public' : 'foreign';
}
