import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCloudAssembly } from 'local-aws/template';
import * as z from 'zod/mini';

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

const properties = z.record(z.string(), z.unknown());

const templateSchema = z.looseObject({
  Resources: z.record(z.string(), z.looseObject({ Type: z.string(), Properties: z.optional(properties) })),
});

const functionSchema = z.looseObject({
  Environment: z.looseObject({
    Variables: z.looseObject({
      POWERTOOLS_SERVICE_NAME: z.string(),
      QUEUE_URL: z.optional(z.object({ Ref: z.string() })),
    }),
  }),
});

const methodSchema = z.looseObject({ Integration: properties });

const assetsSchema = z.looseObject({ files: properties });

/** Folder in an assembly for the readable code of a debugged function. */
export const inspectedCode = (folder: string, service: string) => join(folder, assetOf(service));

const assetOf = (service: string) => `inspected-${service}`;

type AdjustedResource = z.infer<typeof templateSchema>['Resources'][string];

/** Changes a synthesised stack before it runs locally. */
export function adjustAssembly(folder: string, adjustments: Adjustments): void {
  const { name } = readCloudAssembly(folder);
  rewrite(join(folder, `${name}.template.json`), (json) => {
    const template = templateSchema.parse(json);
    const resources = Object.values(template.Resources);
    for (const resource of resources) {
      if (resource.Type === 'AWS::Lambda::Function')
        adjustFunction(resource, template.Resources, adjustments);
    }
    if (adjustments.inspected.has('receiver')) extendApiTimeouts(resources);
    return template;
  });
  rewrite(join(folder, `${name}.assets.json`), (json) => {
    const assets = assetsSchema.parse(json);
    for (const service of adjustments.inspected) {
      const asset = assetOf(service);
      assets.files[asset] = { source: { path: asset }, destinations: { local: { objectKey: asset } } };
    }
    return assets;
  });
}

/** Changes a function of this project and its queue. The CDK's own functions have no name on the command line. */
function adjustFunction(
  resource: AdjustedResource,
  resources: Readonly<Record<string, AdjustedResource>>,
  { retryFast, inspected }: Adjustments,
): void {
  const { data } = functionSchema.safeParse(resource.Properties);
  if (data === undefined) return;
  const { Variables } = data.Environment;
  const service = Variables.POWERTOOLS_SERVICE_NAME;
  const queue = resources[Variables.QUEUE_URL?.Ref ?? ''];
  resource.Properties = data;
  if (retryFast && queue !== undefined) {
    Variables.FIRST_RETRY_DELAY_SECONDS = String(FAST_FIRST_DELAY);
    queue.Properties = { ...queue.Properties, VisibilityTimeout: FAST_VISIBILITY };
  }
  if (!inspected.has(service)) return;
  Object.assign(data, { Timeout: DEBUG_TIMEOUT, Code: { S3Key: assetOf(service) } });
  if (queue !== undefined) queue.Properties = { ...queue.Properties, VisibilityTimeout: DEBUG_TIMEOUT };
}

/** Raises the timeouts of an API, whose only function is the receiver. */
function extendApiTimeouts(resources: readonly AdjustedResource[]): void {
  const TimeoutInMillis = DEBUG_TIMEOUT * 1000;
  for (const resource of resources) {
    if (resource.Type === 'AWS::ApiGatewayV2::Integration') {
      resource.Properties = { ...resource.Properties, TimeoutInMillis };
    } else if (resource.Type === 'AWS::ApiGateway::Method') {
      const method = methodSchema.parse(resource.Properties);
      resource.Properties = { ...method, Integration: { ...method.Integration, TimeoutInMillis } };
    }
  }
}

function rewrite(file: string, change: (json: unknown) => unknown): void {
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')))));
}
