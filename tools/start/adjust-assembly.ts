import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCloudAssembly } from 'local-aws/cloud-assembly';

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
  /** Debugged functions, by their names on the command line. They practically have no timeout. */
  readonly inspected: ReadonlySet<string>;
}

/** What is changed of a template. The CDK's own functions have no name on the command line. */
interface AdjustedTemplate {
  readonly Resources: Readonly<
    Record<string, { readonly Type: string; readonly Properties?: Record<string, unknown> }>
  >;
}

interface FunctionProperties {
  readonly Environment?: {
    readonly Variables?: Record<string, unknown> & {
      readonly POWERTOOLS_SERVICE_NAME?: string;
      readonly QUEUE_URL?: { readonly Ref: string };
    };
  };
}

/** Folder in an assembly for the readable code of a debugged function. */
export const inspectedCode = (folder: string, service: string) => join(folder, assetOf(service));

const assetOf = (service: string) => `inspected-${service}`;

/** Changes a synthesised stack before it runs locally. */
export function adjustAssembly(folder: string, adjustments: Adjustments): void {
  const { inspected } = adjustments;
  const { name } = readCloudAssembly(folder);
  rewrite<AdjustedTemplate>(join(folder, `${name}.template.json`), (template) => {
    for (const { Type, Properties = {} } of Object.values(template.Resources)) {
      if (Type === 'AWS::Lambda::Function') adjustFunction(Properties, template, adjustments);
      else if (inspected.has('receiver')) extendApiTimeout(Type, Properties);
    }
  });
  rewrite<{ files: Record<string, unknown> }>(join(folder, `${name}.assets.json`), ({ files }) => {
    for (const asset of [...inspected].map(assetOf)) {
      files[asset] = { source: { path: asset }, destinations: { local: { objectKey: asset } } };
    }
  });
}

function adjustFunction(
  properties: Record<string, unknown>,
  { Resources }: AdjustedTemplate,
  { retryFast, inspected }: Adjustments,
): void {
  const { Variables = {} } = (properties as FunctionProperties).Environment ?? {};
  const { POWERTOOLS_SERVICE_NAME: service = '', QUEUE_URL } = Variables;
  const queue = Resources[QUEUE_URL?.Ref ?? '']?.Properties;
  if (retryFast && queue) {
    Variables.FIRST_RETRY_DELAY_SECONDS = String(FAST_FIRST_DELAY);
    queue.VisibilityTimeout = FAST_VISIBILITY;
  }
  if (!inspected.has(service)) return;
  Object.assign(properties, { Timeout: DEBUG_TIMEOUT, Code: { S3Key: assetOf(service) } });
  if (queue) queue.VisibilityTimeout = DEBUG_TIMEOUT;
}

/** Raises the timeout of an API, whose only function is the receiver. */
function extendApiTimeout(type: string, properties: Record<string, unknown>): void {
  const TimeoutInMillis = DEBUG_TIMEOUT * 1000;
  if (type === 'AWS::ApiGatewayV2::Integration') Object.assign(properties, { TimeoutInMillis });
  if (type === 'AWS::ApiGateway::Method') Object.assign(properties.Integration ?? {}, { TimeoutInMillis });
}

function rewrite<Json>(file: string, change: (json: Json) => void): void {
  const json = JSON.parse(readFileSync(file, 'utf8')) as Json;
  change(json);
  writeFileSync(file, JSON.stringify(json));
}
