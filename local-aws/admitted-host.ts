import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/** The name by which a Docker container reaches its host. Source: Docker documentation, "Networking". */
const HOST_OF_CONTAINERS = 'host.docker.internal';

/**
 * Whether a `Host` header names this machine in a way that only this machine or its containers use. A web page may
 * resolve its own name to 127.0.0.1 (DNS rebinding), and could then read answers, with the secret in them, as its own
 * origin. DNS rebinding is impossible with an IP address, and with names that no DNS resolves: `localhost` and its
 * subdomains (RFC 6761), which S3 uses for buckets, and `.internal` (reserved by ICANN).
 */
export function isOwnHost(host: string | undefined): boolean {
  const name = (host ?? '').toLowerCase().replace(/:\d+$/, '');
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === HOST_OF_CONTAINERS ||
    isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
  );
}

/** Addresses that reach only this machine (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\])$/;

const ADDRESS = /^([\d.]+|\[.*\])$/;

/**
 * Headers, in lower case, that proxies add to a request. Sources: RFC 7239 (Forwarded), RFC 9110 §7.6.3
 * (Via), RFC 8586 (CDN-Loop), Cloudflare's "HTTP headers" (CF-, True-Client-IP), Tailscale's Serve and Funnel
 * (Tailscale-, X-Forwarded-), ngrok (X-Forwarded-, and X-Original-Host if it rewrites `Host`).
 */
const OF_PROXY =
  /^(forwarded|via|x-forwarded-.+|x-real-ip|x-original-host|true-client-ip|cdn-loop|cf-.+|tailscale-.+)$/;

/**
 * Finds out where a request comes from. Tunnels forward requests for their public name to this machine. A web page
 * could also send requests here, by a name that resolves to 127.0.0.1 (DNS rebinding), and sign with the well-known
 * local secret. So only names that the stack was started with are admitted. A tunnel may forward a `Host` that a
 * stranger chose, so a request through a proxy is never local. If public names are admitted, the secret is not the
 * well-known one. A plain TCP tunnel adds no header, so its requests count as local.
 * @param publicHosts in lower case, without ports
 */
export function originOf(
  headers: IncomingHttpHeaders,
  publicHosts: readonly string[],
): 'here' | 'public' | 'foreign' {
  const name = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
  const namesThisMachine = ADDRESS.test(name) ? LOOPBACK.test(name) : isOwnHost(name);
  const isOfProxy = Object.keys(headers).some((header) => OF_PROXY.test(header));
  if (namesThisMachine && !isOfProxy) return 'here';
  const isLetIn = namesThisMachine ? publicHosts.length > 0 : publicHosts.includes(name);
  return isLetIn ? 'public' : 'foreign';
}
