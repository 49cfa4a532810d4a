import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { PREVIOUS_SECRET_MAX_AGE } from '../../../lambda/limits.ts';
import { readSecretValue, secretDoubt, UnusableSecretError } from '../../../lambda/receiver/secret-value.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { duration } from '../../terminal/text.ts';
import type { CheckResult } from '../doctor/inspection.ts';
import type { Stage } from '../stage.ts';

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

export type SecretVersions = Awaited<ReturnType<typeof secretVersions>>;

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
export function usableSecret(stored: string | undefined): string | undefined {
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
    return { state: 'failure', seen: 'deleted, or without a value', why, fix };
  }
  const hasPrevious = previous?.value !== undefined;
  if (current.value === undefined) {
    const seen = `blank, binary, or JSON without WEBHOOK_SECRET, stored ${ago(current.createdAt)}`;
    if (hasPrevious)
      return { state: 'failure', seen, why: `New receivers answer 500. ${GO_BACK}`, fix: back };
    const why = 'The receiver answers 500. Give the partner the new secret.';
    return { state: 'failure', seen, why, fix: `openssl rand -hex 32 | ${stage.command('set', 'secret')}` };
  }
  const seen = `readable, stored ${ago(current.createdAt)}`;
  if (current.doubt === undefined) return { state: 'ok', seen };
  const advice = hasPrevious ? { why: `Is it a mistake? ${GO_BACK}`, fix: back } : {};
  return { state: 'warning', seen: `${seen}. ${current.doubt}`, ...advice };
}

/** Whether the previous version is accepted, and until when. */
export function describePrevious({ current, previous, until }: SecretVersions): CheckResult {
  if (previous === undefined || current === undefined) return { state: 'skipped', seen: 'never rotated' };
  const stored = `stored ${ago(previous.createdAt)}`;
  const left = until.getTime() - Date.now();
  if (previous.value === undefined) return { state: 'ok', seen: `not accepted: it is unusable, ${stored}` };
  if (left <= 0) return { state: 'ok', seen: `not accepted since ${until.toISOString()}, ${stored}` };
  if (current.value === undefined)
    return { state: 'warning', seen: `not accepted, because the current version is unusable, ${stored}` };
  return { state: 'ok', seen: `accepted until ${until.toISOString()}, for ${duration(left)}, ${stored}` };
}

const ago = (time: Date) => `${duration(Date.now() - time.getTime())} ago`;
