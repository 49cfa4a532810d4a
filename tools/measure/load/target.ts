import { CommandError } from '../../cli/terminal/command-error.ts';
import { isThisMachine } from '../../stage/stage.ts';

/**
 * Reads where deliveries are to go, which is this machine or a host that is named twice: a load test of somebody else's
 * host is an attack, and a mistyped address is somebody else's.
 * @param owned the host, once more
 * @throws CommandError where it is neither, or no address
 */
export function loadTarget(url: string, owned: string | undefined): URL {
  const target = URL.parse(url);
  if (target === null || !/^https?:$/.test(target.protocol)) {
    throw new CommandError(`--url must be an address that begins with http:// or https://, not '${url}'`);
  }
  if (target.username !== '' || target.password !== '') {
    throw new CommandError('--url must name no user: the signature is all that a delivery has');
  }
  const names = [target.host, target.hostname];
  if (isThisMachine(target) || (owned !== undefined && names.includes(owned.toLowerCase()))) return target;
  throw new CommandError(
    owned === undefined
      ? `${target.host} is not this machine. Where it is yours, name it a second time: --i-own ${target.hostname}`
      : `--url leads to ${target.host}, and --i-own names ${owned}: it must be the same host`,
  );
}
