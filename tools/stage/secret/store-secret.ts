import { PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { SECRET_MAX_AGE, SECRET_REFRESH_INTERVAL } from '../../../lambda/limits.ts';
import { secretDoubt } from '../../../lambda/receiver/secret-value.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { duration } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import {
  describeCurrent,
  describePrevious,
  type SecretVersions,
  secretVersions,
  usableSecret,
} from './secret-versions.ts';

/** Prints the age of both versions, and what is wrong with them. Never a value. @returns false if something is */
export async function showSecret({ stack, printLine }: Operation): Promise<boolean> {
  const versions = await secretVersions(stack);
  const findings = { current: describeCurrent(stack, versions), previous: describePrevious(versions) };
  printLine(`The secret of ${stack.title}:`);
  for (const [name, { seen, why, fix }] of Object.entries(findings)) {
    printLine(`  ${name.padEnd('previous'.length)}  ${seen}`);
    for (const line of [why, fix]) if (line) printLine(`            ${line}`);
  }
  return Object.values(findings).every(({ state }) => state !== 'failure');
}

/**
 * Stores a new secret, unless it is probably a mistake, or would remove a version with which the partner may sign.
 * @param given the text on standard input. The line break at its end is of the pipe
 * @param isForced stores it anyway
 * @throws CommandError if it is not stored. It does not contain the secret
 */
export async function setSecret({ stack, printLine }: Operation, given: string, isForced: boolean) {
  const stored = given.replace(/\r?\n$/, '');
  const value = usableSecret(stored);
  if (value === undefined) {
    throw new CommandError('Nothing was stored: it is empty, white space, or JSON without WEBHOOK_SECRET');
  }
  const versions = await secretVersions(stack);
  if (value === versions.current?.value) {
    throw new CommandError('Nothing was stored: this is the current secret already');
  }
  const objection = secretDoubt(value) ?? lossOf(stack, versions, value);
  if (objection !== undefined && !isForced) {
    throw new CommandError(`Nothing was stored. ${objection} To store it in spite of this, add --anyway`);
  }
  await store({ stack, printLine }, 'new', stored, versions);
  if (objection !== undefined) printLine(`Stored in spite of this: ${objection}`);
}

/** Why a new version would remove one that is still needed. Secrets Manager keeps two. */
function lossOf(stage: Stage, { current, previous, until }: SecretVersions, value: string) {
  if (previous?.value === undefined || previous.value === value) return undefined;
  if (current?.value === undefined || current.doubt !== undefined) {
    return `The current version is probably a mistake, and the previous one would be lost. First make it current again: ${stage.command('back', 'secret')}.`;
  }
  if (previous.doubt !== undefined || until < new Date()) return undefined;
  return `The previous secret is accepted until ${until.toISOString()}, and would be lost: deliveries signed with it would get 401.`;
}

/**
 * Stores the previous secret as a new version: so the other one stays accepted, too.
 * @throws CommandError if there is no usable one
 */
export async function restorePrevious({ stack, printLine }: Operation): Promise<void> {
  const versions = await secretVersions(stack);
  const { previous } = versions;
  if (previous?.stored === undefined || previous.value === undefined) {
    throw new CommandError(`There is no usable previous secret in ${stack.title}`);
  }
  await store({ stack, printLine }, 'previous', previous.stored, versions);
}

/**
 * Stores a version, and says until when the other one is accepted. If somebody else has stored one since `before`, the
 * one that was current then is lost, and the partner may sign with it: so it is stored again. Secrets Manager is
 * eventually consistent, so only a value that was never seen proves that.
 * @throws CommandError if somebody else did
 */
async function store(
  { stack, printLine }: Pick<Operation, 'stack' | 'printLine'>,
  which: 'new' | 'previous',
  secret: string,
  before: SecretVersions,
): Promise<void> {
  const SecretId = stack.output('WebhookSecretArn');
  const put = (SecretString: string) =>
    stack.secrets.send(new PutSecretValueCommand({ SecretId, SecretString }));
  await put(secret);
  const after = await secretVersions(stack);
  const { stored: former, value } = before.current ?? {};
  const known = [undefined, secret, former, before.previous?.stored];
  if (former !== undefined && value !== undefined && !known.includes(after.previous?.stored)) {
    await put(former);
    throw new CommandError(
      'Somebody else stored a secret at the same time. The one from before is current again. Agree on one, then store it with --anyway',
    );
  }
  printLine(`The ${which} secret is the current one in ${stack.title}.`);
  printLine(`The one that was current is ${describePrevious(after).seen}.`);
  printLine(
    `Running receivers take up to ${duration(SECRET_MAX_AGE)} to accept the ${which} one, or one refused signature. After that, they may answer 401 for ${duration(SECRET_REFRESH_INTERVAL)}.`,
  );
}
