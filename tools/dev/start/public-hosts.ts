import { isIP } from 'node:net';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { isLocalSecret, LOCAL_SECRET } from '../../../events/signing.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';

/** Labels of letters, digits and hyphens (RFC 1123 §2.1), two at least: a name of one is none that strangers know. */
const NAME = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Characters of a name at most. Source: RFC 1035 §2.3.4. */
const LONGEST_NAME = 253;

/** Collects names by which tunnels lead here. @throws InvalidArgumentError, which becomes the command's one line */
export function publicHost(text: string, before: readonly string[] = []): readonly string[] {
  const name = text.toLowerCase();
  const isName = NAME.test(name) && name.length <= LONGEST_NAME;
  if (isName || isIP(name) === 4) return [...before, name];
  throw new InvalidArgumentError(
    'It must be the name alone, such as abc.trycloudflare.com: no https://, no port, no path.',
  );
}

/** @throws CommandError where strangers are let in who know the secret */
export function assertOwnSecret(publicHosts: readonly string[], secret: string): void {
  if (publicHosts.length === 0 || !isLocalSecret(secret)) return;
  throw new CommandError(
    `--public-host lets strangers in: give --secret, as ${LOCAL_SECRET} is known to everybody`,
  );
}
