import * as z from 'zod';
import { configSchema } from './config.ts';
import { didYouMean, nearest } from './did-you-mean.ts';

/**
 * Keys of the CDK context that the app reads: the stage, the settings of all stages, settings for this synthesis only,
 * whether to run cdk-nag, and whether to hide its findings that the code acknowledges.
 */
export const CONTEXT_KEYS = ['stage', 'stages', 'settings', 'nag', 'acknowledge'];

/**
 * Keys of CDK itself: feature flags, settings of the CLI, and cached lookups such as `availability-zones:account=…`.
 */
const OF_CDK = /[:/]|^(aws|cdk)/;

/**
 * A stack's name ends with the stage's. Source: CloudFormation API reference, `CreateStack`, `StackName`. The length
 * leaves room in the descriptions of alarms (`runbook` in `config.ts`). The names of Glue databases have no capitals.
 */
const STAGE_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

const jsonObject = z.record(z.string(), z.unknown());

const EXAMPLE = `-c settings='{"logRetentionDays":90}'`;

interface StageContext {
  readonly stage: string;
  /** The settings of the stage as given, not validated. */
  readonly given: unknown;
  /** Keys that neither the app nor CDK reads. They may be another project's, from `~/.cdk.json`. */
  readonly unread: readonly string[];
}

/**
 * Finds the stage that the context names, and merges the context `settings` over it.
 * @param context of the CDK. Values of `-c` are texts
 * @throws Error if a stage other than the intended one would be synthesised. The message says what to do
 */
export function readContext(context: Readonly<Record<string, unknown>>): StageContext {
  const { stage, stages, settings } = context;
  const unread = Object.keys(context).filter((key) => !CONTEXT_KEYS.includes(key) && !OF_CDK.test(key));
  for (const key of unread) refuseMistake(key, context[key]);
  const found = findStage(stages, stage);
  return { ...found, given: merged(found.given, parseSettings(settings)), unread };
}

function refuseMistake(key: string, value: unknown): void {
  if (nearest(key, CONTEXT_KEYS) !== undefined) {
    throw new Error(`Unknown context '${key}'.${didYouMean(key, CONTEXT_KEYS)}`);
  }
  const fields = configSchema().shape;
  const [field = ''] = key.split('.');
  if (!Object.hasOwn(fields, field)) return;
  const schema = fields[field as keyof typeof fields];
  const parsed = parseOr(value);
  const shown = field !== key ? '{…}' : JSON.stringify(schema.safeParse(parsed).success ? parsed : value);
  throw new Error(
    `The context '${key}' is not read: ${field} is a setting of a stage. Set it in cdk.json, below the stage. For one command, use -c settings='{"${field}":${shown}}'`,
  );
}

function findStage(stages: unknown, name: unknown): { stage: string; given: unknown } {
  if (typeof stages === 'string') {
    throw new Error(
      `-c stages=… would replace the stages of cdk.json and drop their settings. To change settings of the stage for one command, use ${EXAMPLE}`,
    );
  }
  const all = jsonObject.safeParse(stages);
  if (!all.success) {
    throw new Error(
      'The context `stages` must be a JSON object with the settings of each stage under its name',
    );
  }
  if (typeof name !== 'string' || !Object.hasOwn(all.data, name)) {
    const names = Object.keys(all.data);
    throw new Error(
      `No stage '${String(name)}'.${didYouMean(String(name), names)} Use -c stage=NAME with one of: ${names.join(', ')}`,
    );
  }
  if (!STAGE_NAME.test(name)) {
    throw new Error(
      `The stage name '${name}' is invalid. Use up to 32 small letters, digits and hyphens, and begin with a letter or digit`,
    );
  }
  return { stage: name, given: all.data[name] };
}

function parseSettings(settings: unknown): Record<string, unknown> {
  let parsed = settings ?? {};
  if (typeof settings === 'string') {
    try {
      parsed = JSON.parse(settings);
    } catch (error) {
      throw new Error(
        `The context \`settings\` is not JSON: ${(error as Error).message}. Put it in single quotes: ${EXAMPLE}`,
      );
    }
  }
  const object = jsonObject.safeParse(parsed);
  if (object.success) return object.data;
  throw new Error(`The context \`settings\` must be a JSON object, such as ${EXAMPLE}`);
}

/** Merges settings as RFC 7396 (JSON Merge Patch) says: a list replaces a list, and `null` removes a field. */
function merged(given: unknown, settings: unknown): unknown {
  const patch = jsonObject.safeParse(settings);
  if (!patch.success) return settings;
  const fields = new Map(Object.entries(jsonObject.safeParse(given).data ?? {}));
  for (const [field, value] of Object.entries(patch.data)) {
    if (value === null) fields.delete(field);
    else fields.set(field, merged(fields.get(field), value));
  }
  return Object.fromEntries(fields);
}

function parseOr(value: unknown): unknown {
  try {
    return JSON.parse(String(value));
  } catch {
    return value;
  }
}
