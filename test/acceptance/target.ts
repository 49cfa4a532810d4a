import { existsSync, readFileSync } from 'node:fs';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';

/** Environment variables that `npx hookctl acceptance` passes to the suite. */
export const variable = {
  outputs: 'ACCEPTANCE_OUTPUTS',
  /** Name of the run, which is part of every identifier that it creates. */
  run: 'ACCEPTANCE_RUN',
  /** How long an effect may take, in seconds. */
  wait: 'ACCEPTANCE_WAIT',
} as const;

/** An identifier of this run only: `acceptance-1f3a…-shop`. */
export function ofThisRun(name: string): string {
  return `${process.env[variable.run]}-${name}`;
}

/** A recent timestamp. With an old one, the alarm on late deliveries would fire if there is no other traffic. */
export const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

/** The outputs that the suite uses, with the names of `cdk deploy --outputs-file`. */
const OUTPUT_NAMES = [
  'WebhookUrl',
  'WebhookSecretArn',
  'ShopCacheTable',
  'CastTable',
  'ContactPartnerTable',
  'ChatTopicArn',
  'ReviewTopicArn',
  'QuarantineQueueUrl',
  'UnroutedQueueUrl',
  'PayloadBucket',
] as const;

/** Outputs of a stage with an archive. Only the delivery stream that the suite uses is listed. */
type ArchiveOutput = 'ArchiveBucket' | 'ShopUpdatedArchiveStream';

export type Outputs = Readonly<Record<(typeof OUTPUT_NAMES)[number], string>> &
  Readonly<Partial<Record<ArchiveOutput, string>>>;

export interface AcceptanceTarget {
  readonly stackName: string;
  readonly outputs: Outputs;
}

/** The suite cannot start: one clear message, exit code 1. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

const outputsFile = z.record(z.string(), z.record(z.string(), z.unknown()));

/**
 * Reads a file in the format of `cdk deploy --outputs-file`: an object of stacks, each an object of outputs.
 * @throws TargetError if it has another format, does not have exactly one stack, or lacks outputs. The error names all
 * missing outputs
 */
export function readTarget(file: string): AcceptanceTarget {
  if (!existsSync(file)) {
    throw new TargetError(`No file ${file}. Write it with: npx cdk deploy --outputs-file ${file}`);
  }
  const { data } = outputsFile.safeParse(parseJson(file));
  if (data === undefined) {
    throw new TargetError(`${file} is not in the form that cdk deploy --outputs-file writes`);
  }
  const [stack, ...others] = Object.entries(data);
  if (stack === undefined || others.length > 0) {
    throw new TargetError(`${file} must have the outputs of one stack, not of ${Object.keys(data).length}`);
  }
  const [stackName, values] = stack;
  const missing = OUTPUT_NAMES.filter((name) => typeof values[name] !== 'string' || values[name] === '');
  if (missing.length > 0) {
    throw new TargetError(`${file} lacks outputs of ${stackName}: ${missing.join(', ')}`);
  }
  if (!URL.canParse(String(values.WebhookUrl))) {
    throw new TargetError(`${file}: WebhookUrl is not a URL: ${values.WebhookUrl}`);
  }
  return { stackName, outputs: values as Outputs };
}

function parseJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new TargetError(`${file} is not JSON`);
  }
}

/**
 * The secret that signs deliveries: the stored value, or `WEBHOOK_SECRET` of a stored JSON object (decision D12).
 * @throws the client's error; Error if the stored value is not a valid secret. No message has the secret
 */
export async function readWebhookSecret(secretId: string): Promise<string> {
  const client = new SecretsManagerClient();
  try {
    const { SecretString: stored } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
    const secret = stored?.trimStart().startsWith('{') ? ofJson(stored) : stored;
    if (typeof secret === 'string' && secret !== '') return secret;
    throw new Error('The stored secret is empty, binary, or an object without WEBHOOK_SECRET');
  } finally {
    client.destroy();
  }
}

function ofJson(stored: string): unknown {
  try {
    return JSON.parse(stored).WEBHOOK_SECRET;
  } catch {
    // A bare secret may begin with a brace.
    return stored;
  }
}
