import { createHash, randomUUID } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { cp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { writeReadableBundle } from './inspected-functions.ts';

/** Environment variables that the CDK and its app read. Source: `process.env` in `lib/` and in aws-cdk-lib's core. */
const VARIABLE = /^(CDK|JSII)_/;

interface AssemblyCache {
  /** Folder with the last assembly, in a subfolder that is named by the digest of its sources. */
  readonly cache: string;
  readonly synthesise: (folder: string, overrides: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Files and folders that a synthesis reads. @default those of this project */
  readonly inputs?: readonly string[];
}

/**
 * Writes the assembly of the current sources: that of the last start if no source has changed, or a new one.
 * @throws errors of the synthesis
 */
export async function writeAssembly(
  folder: string,
  overrides: Readonly<Record<string, unknown>>,
  { cache, synthesise, inputs = SYNTHESIS_INPUTS }: AssemblyCache,
): Promise<void> {
  const digest = digestOf(inputs, overrides);
  const stored = cp(join(cache, digest), folder, { recursive: true });
  if (await stored.then(() => true).catch(() => false)) return;
  await synthesise(folder, overrides);
  // Not stored if a source was saved meanwhile. If storing fails, only the next start takes longer.
  if (digestOf(inputs, overrides) === digest) await store(folder, cache, digest).catch(() => {});
}

/** Stores the assembly by a rename, so that another start never copies half of it. */
async function store(assembly: string, cache: string, digest: string): Promise<void> {
  const temporary = join(cache, randomUUID());
  await rm(cache, { recursive: true, force: true });
  await cp(assembly, temporary, { recursive: true });
  await rename(temporary, join(cache, digest));
}

function digestOf(inputs: readonly string[], overrides: Readonly<Record<string, unknown>>): string {
  const environment = Object.entries(process.env).filter(([name]) => VARIABLE.test(name));
  const hash = createHash('sha256').update(JSON.stringify([process.version, overrides, environment.sort()]));
  const paths = globSync(inputs.flatMap((path) => [path, `${path}/**`])).sort();
  for (const path of paths) {
    if (statSync(path).isFile()) hash.update(`\0${path}\0`).update(readFileSync(path));
  }
  return hash.digest('hex');
}

/**
 * Everything that a synthesis reads, relative to the project's root. Installed packages are represented by
 * the lock file in `node_modules`, which `npm ci` rewrites.
 */
export const SYNTHESIS_INPUTS = [
  'bin',
  'cdk.json',
  'lambda',
  'lib',
  'node_modules/.package-lock.json',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
];

/**
 * First delay of retries, in seconds. Consumers double this delay: the nine delays take 10 s in total, each from 0 to 5
 * whole seconds (`lambda/consumer/retry.ts`).
 */
const FAST_FIRST_DELAY = 0.02;

/**
 * Visibility timeout in seconds. A message returns after this time if its function died. If a function takes
 * longer, it receives the message twice.
 */
const FAST_VISIBILITY = 5;

/**
 * Timeout of a debugged function, in seconds: the longest visibility timeout of SQS. Source: SQS API
 * reference.
 */
const DEBUG_TIMEOUT = 12 * 60 * 60;

interface Adjustments {
  /** Whether retries take seconds, so that a message becomes a dead letter after about ten seconds. */
  readonly retryFast: boolean;
  /** Debugged functions, by their names in other commands. They have readable code, and practically no timeout. */
  readonly inspected: ReadonlySet<string>;
}

/** What is read and changed of a resource, whatever its type. */
interface AdjustedProperties {
  Timeout?: number;
  TimeoutInMillis?: number;
  VisibilityTimeout?: number;
  readonly Code?: { readonly S3Key: string };
  readonly Integration?: { TimeoutInMillis?: number };
  readonly Environment?: {
    readonly Variables?: {
      FIRST_RETRY_DELAY_SECONDS?: string;
      /** The CDK's own functions have no name. */
      readonly POWERTOOLS_SERVICE_NAME?: string;
      readonly QUEUE_URL?: { readonly Ref: string };
    };
  };
}

type AdjustedResources = Readonly<
  Record<string, { readonly Type: string; readonly Properties?: AdjustedProperties }>
>;

/**
 * Changes a synthesised stack before it runs locally.
 * @throws BuildFailure of esbuild if the sources of a debugged function have errors
 */
export async function adjustAssembly(folder: string, { retryFast, inspected }: Adjustments): Promise<void> {
  const { name, template, assetFolder } = readCloudAssembly(folder);
  const resources: AdjustedResources = template.Resources;
  for (const { Properties = {} } of Object.values(resources)) {
    const variables = Properties.Environment?.Variables ?? {};
    const queue = resources[variables.QUEUE_URL?.Ref ?? '']?.Properties;
    if (retryFast && queue) {
      variables.FIRST_RETRY_DELAY_SECONDS = String(FAST_FIRST_DELAY);
      queue.VisibilityTimeout = FAST_VISIBILITY;
    }
    const { POWERTOOLS_SERVICE_NAME: service = '' } = variables;
    if (!inspected.has(service)) continue;
    Properties.Timeout = DEBUG_TIMEOUT;
    if (queue) queue.VisibilityTimeout = DEBUG_TIMEOUT;
    await writeReadableBundle(service, assetFolder(Properties.Code?.S3Key ?? ''));
  }
  if (inspected.has('receiver')) extendApiTimeout(resources);
  await writeFile(join(folder, `${name}.template.json`), JSON.stringify(template));
}

/** Raises the timeout of the API, whose only function is the receiver. */
function extendApiTimeout(resources: AdjustedResources): void {
  for (const { Type, Properties } of Object.values(resources)) {
    const integration = Type === 'AWS::ApiGatewayV2::Integration' ? Properties : Properties?.Integration;
    if (integration) integration.TimeoutInMillis = DEBUG_TIMEOUT * 1000;
  }
}
