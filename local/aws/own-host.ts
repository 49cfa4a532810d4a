import { isIP } from 'node:net';

/** How Docker lets a container reach the machine that it runs on. Source: Docker documentation, "Networking". */
const HOST_OF_CONTAINERS = 'host.docker.internal';

/**
 * Whether a `Host` is one that only this machine, or a container of it, goes by.
 *
 * A web page may have its own name lead to 127.0.0.1 (DNS rebinding), and could then read the answers, the secret among
 * them, as those of its own origin. It cannot do that with an address, nor with names that no DNS gives to anybody:
 * `localhost` and all below it (RFC 6761), as S3 puts buckets there, and `.internal` (reserved by ICANN).
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
