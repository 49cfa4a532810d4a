import { isIP } from 'node:net';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { isLocalSecret, LOCAL_SECRET } from '../../events/signing.ts';
import { UsageError } from '../terminal/command-error.ts';

/**
 * A host name of at least two labels of letters, digits and hyphens (RFC 1123 §2.1). A name with one label is
 * not public.
 */
const HOST_NAME = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Maximum characters of a host name. Source: RFC 1035 §2.3.4. */
const MAX_HOST_NAME = 253;

/**
 * Parses a value of the option for host names of tunnels, and adds the name to the earlier names.
 * @throws InvalidArgumentError; the command prints its message as one line
 */
export function publicHost(text: string, before: readonly string[] = []): readonly string[] {
  const name = text.toLowerCase();
  const isName = HOST_NAME.test(name) && name.length <= MAX_HOST_NAME;
  if (isName || isIP(name) === 4) return [...before, name];
  throw new InvalidArgumentError(
    'It must be the name alone, such as abc.trycloudflare.com: no https://, no port, no path.',
  );
}

/** @throws CommandError if the webhook is public and its secret is the well-known default */
export function assertOwnSecret(publicHosts: readonly string[], secret: string): void {
  if (publicHosts.length === 0 || !isLocalSecret(secret)) return;
  throw new UsageError(
    `--public-host makes the webhook public. Set your own --secret: ${LOCAL_SECRET} is known to everybody`,
  );
}
