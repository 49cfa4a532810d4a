import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { PREVIOUS_SECRET_MAX_AGE, SECRET_MAX_AGE, SECRET_REFRESH_INTERVAL } from '../../lambda/limits.ts';
import { readSecretValue, secretDoubt, UnusableSecretError } from '../../lambda/receiver/secret-value.ts';
import { CommandError } from '../terminal/command-error.ts';
import { ago, duration } from '../terminal/text.ts';
import { type CheckResult, failure, ok, skipped, warning } from './doctor/inspection.ts';
import type { Operation } from './operation.ts';
import type { Stage } from './stage.ts';

/** A version of the webhook secret. */
interface StoredSecret {
  readonly createdAt: Date;
  /** As stored: the bare secret, or JSON. */
  readonly stored: string | undefined;
  /** The secret. Undefined if the receiver cannot use what is stored. */
  readonly value: string | undefined;
  /** Why it is probably not what somebody meant to store. */
  readonly doubt: string | undefined;
}

type SecretVersions = Awaited<ReturnType<typeof secretVersions>>;

/** The versions of a stage's secret. The receiver accepts the previous one before `until`, if both are usable. */
export async function secretVersions(stage: Stage) {
  const [current, previous] = await Promise.all([secretVersion(stage), secretVersion(stage, 'AWSPREVIOUS')]);
  return { current, previous, until: new Date(Number(current?.createdAt ?? 0) + PREVIOUS_SECRET_MAX_AGE) };
}

/** @returns undefined if there is no such version, or the secret is deleted */
export async function secretVersion(
  stage: Stage,
  VersionStage = 'AWSCURRENT',
): Promise<StoredSecret | undefined> {
  const SecretId = stage.output('WebhookSecretArn');
  try {
    const query = new GetSecretValueCommand({ SecretId, VersionStage });
    const { SecretString: stored, CreatedDate: createdAt = new Date(0) } = await stage.secrets.send(query);
    const value = usableSecret(stored);
    return { createdAt, stored, value, doubt: value === undefined ? undefined : secretDoubt(value) };
  } catch (error) {
    const { name } = error as Error;
    if (name === 'ResourceNotFoundException' || name === 'InvalidRequestException') return undefined;
    throw error;
  }
}

/**
 * The secret that signs deliveries to a stage.
 * @throws CommandError if the receiver cannot use it
 */
export async function currentSecret(stage: Stage): Promise<string> {
  const { value } = (await secretVersion(stage)) ?? {};
  if (value !== undefined) return value;
  throw new CommandError(`No usable secret in ${stage.title}. See why: ${stage.command('show', 'secret')}`);
}

/** @returns undefined if the receiver cannot use it */
function usableSecret(stored: string | undefined): string | undefined {
  try {
    return readSecretValue(stored);
  } catch (error) {
    if (error instanceof UnusableSecretError) return undefined;
    throw error;
  }
}

/** Secrets Manager keeps two versions. Another new one would remove the one with which the partner signs. */
const GO_BACK =
  'Make the previous version current again. Then store the right secret: docs/secret-rotation.md.';

/** What a person must know of the current version. Names no value. */
export function describeCurrent(stage: Stage, { current, previous }: SecretVersions): CheckResult {
  const back = stage.command('back', 'secret');
  if (current === undefined) {
    const fix = `aws secretsmanager restore-secret --secret-id ${stage.output('WebhookSecretArn')}`;
    const why = 'The receiver cannot verify signatures, and answers 500.';
    return failure('deleted, or without a value', { why, fix });
  }
  const hasPrevious = previous?.value !== undefined;
  if (current.value === undefined) {
    const seen = `blank, binary, or JSON without WEBHOOK_SECRET, stored ${ago(current.createdAt)}`;
    if (hasPrevious) return failure(seen, { why: `New receivers answer 500. ${GO_BACK}`, fix: back });
    const why = 'The receiver answers 500. Give the partner the new secret.';
    return failure(seen, { why, fix: `openssl rand -hex 32 | ${stage.command('set', 'secret')}` });
  }
  const seen = `readable, stored ${ago(current.createdAt)}`;
  if (current.doubt === undefined) return ok(seen);
  const advice = { why: `Is it a mistake? ${GO_BACK}`, fix: back };
  return warning(`${seen}. ${current.doubt}`, hasPrevious ? advice : {});
}

/** Whether the previous version is accepted, and until when. */
export function describePrevious({ current, previous, until }: SecretVersions): CheckResult {
  if (previous === undefined || current === undefined) return skipped('never rotated');
  const stored = `stored ${ago(previous.createdAt)}`;
  const left = until.getTime() - Date.now();
  if (previous.value === undefined) return ok(`not accepted: it is unusable, ${stored}`);
  if (left <= 0) return ok(`not accepted since ${until.toISOString()}, ${stored}`);
  if (current.value === undefined) {
    return warning(`not accepted, because the current version is unusable, ${stored}`);
  }
  return ok(`accepted until ${until.toISOString()}, for ${duration(left)}, ${stored}`);
}

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
