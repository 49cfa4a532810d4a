import { existsSync, readFileSync } from 'node:fs';

/** The outputs of the stack that the suite uses, as `cdk deploy --outputs-file` names them. */
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

/** Outputs that are there where the stage keeps an archive; of its delivery streams, those that the suite uses. */
type ArchiveOutput = 'ArchiveBucket' | 'ShopUpdatedArchiveStream';

export type Outputs = Readonly<Record<(typeof OUTPUT_NAMES)[number], string>> &
  Readonly<Partial<Record<ArchiveOutput, string>>>;

export interface Target {
  readonly stackName: string;
  readonly outputs: Outputs;
}

/** What keeps the suite from starting: one clear text, exit code 1. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

/**
 * Reads a file in the form of `cdk deploy --outputs-file`: an object of stacks, each an object of outputs.
 * @throws TargetError where it is not that, holds another number of stacks than one, or lacks outputs,
 *   naming all of them
 */
export function readTarget(file: string): Target {
  if (!existsSync(file)) {
    throw new TargetError(`No file ${file}. Write it with: npx cdk deploy --outputs-file ${file}`);
  }
  const stacks = Object.entries(readStacks(file));
  const [stack] = stacks;
  if (stack === undefined || stacks.length > 1) {
    throw new TargetError(`${file} must hold the outputs of one stack, not of ${stacks.length}`);
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

function readStacks(file: string): Record<string, Record<string, unknown>> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new TargetError(`${file} is not JSON`);
  }
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject(content) && Object.values(content as object).every(isObject)) {
    return content as Record<string, Record<string, unknown>>;
  }
  throw new TargetError(`${file} is not in the form that cdk deploy --outputs-file writes`);
}
