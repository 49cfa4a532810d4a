import type { AwsEndpoint } from './aws/endpoint.ts';
import { arnOf } from './aws/services.ts';
import { awsCaller } from './aws-caller.ts';
import { deploy } from './deploy.ts';
import { DeployedFunctions, type FunctionOptions } from './deployed-functions.ts';
import { SqsEventSource } from './functions/event-source/sqs-event-source.ts';
import { serviceOf } from './functions/function-definition.ts';
import { type DeployedApi, deployedApi } from './gateway/deployed-api.ts';
import { readCloudAssembly } from './template/cloud-assembly.ts';
import { type DeployedResource, Resources, type StackLocation } from './template/resources.ts';

/** Maximum number of batches of a queue that are processed at the same time. */
const MAX_BATCHES = 2;

interface DeployedStackOptions extends FunctionOptions {
  readonly location: StackLocation;
  /** Value of each secret that the template creates. */
  readonly secret: string;
  readonly onProblem: (message: string) => void;
  /** Called with each step while the stack starts. @default none */
  readonly onStep?: (step: string) => void;
}

/** A synthesised stack that is deployed to the AWS endpoint: resources, functions and event sources. */
export interface DeployedStack {
  readonly name: string;
  readonly functions: DeployedFunctions;
  /** The stack's API: an HTTP API or a REST API, as in the template. */
  readonly api: DeployedApi;
  /** Outputs, in the form of `cdk deploy --outputs-file`. */
  outputs(): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * Deploys a synthesised stack to the AWS endpoint.
 * @param assembly folder of the stack's cloud assembly
 * @throws Error if the template contains something that cannot run locally
 */
export async function deployStack(
  assembly: string,
  aws: AwsEndpoint,
  options: DeployedStackOptions,
): Promise<DeployedStack> {
  const { location, secret, onProblem, onStep = () => {} } = options;
  const stack = readCloudAssembly(assembly);
  const resources = new Resources(stack, location);
  for (const type of resources.unknownTypes()) onProblem(`${type} is ignored by the local stack`);
  onStep('Creating queues, topics, tables, buckets, delivery streams and secrets');
  await deploy(resources, aws, secret);
  onStep('Starting the functions');
  const functions = new DeployedFunctions(resources, stack, aws, options);
  try {
    await functions.warmUp();
    const api = deployedApi(resources, (name) => functions.target(name)?.function, aws);
    const sources = eventSources(resources, functions, { aws, onProblem });
    for (const source of sources) source.enable();
    return {
      name: stack.name,
      functions,
      api,
      outputs: () => resources.outputs(),
      async close() {
        await Promise.all(sources.map((source) => source.stop()));
        await functions.close();
      },
    };
  } catch (error) {
    await functions.close();
    throw error;
  }
}

/** The event sources of a template. They do not poll yet. */
function eventSources(
  resources: Resources,
  functions: DeployedFunctions,
  context: { readonly aws: AwsEndpoint; readonly onProblem: (message: string) => void },
): SqsEventSource[] {
  const queues = new Map(resources.ofType('AWS::SQS::Queue').map((queue) => [queue.arn, queue.ref]));
  return resources.ofType('AWS::Lambda::EventSourceMapping').map((mapping) => {
    const queueUrl = queues.get(mapping.properties.EventSourceArn);
    const target = functions.target(mapping.properties.FunctionName);
    if (queueUrl === undefined || target === undefined) {
      throw new Error(`Event source mapping ${mapping.logicalId} needs a queue and a function of this stack`);
    }
    const { definition } = target;
    const source = new SqsEventSource(sourceDefinition(mapping, serviceOf(definition), queueUrl), {
      aws: awsCaller(definition.awsEndpointUrl, definition.credentials.accessKeyId),
      invoke: (event) => target.function.invoke(event),
      onProblem: context.onProblem,
    });
    register(mapping, source, context.aws);
    return source;
  });
}

/** The fields of Lambda's API for a mapping, with Lambda's defaults. */
const settingsOf = ({ properties }: DeployedResource<'AWS::Lambda::EventSourceMapping'>) => ({
  BatchSize: properties.BatchSize ?? 10,
  MaximumBatchingWindowInSeconds: properties.MaximumBatchingWindowInSeconds ?? 0,
  FunctionResponseTypes: properties.FunctionResponseTypes ?? [],
  ScalingConfig: { ...properties.ScalingConfig },
});

function sourceDefinition(
  mapping: DeployedResource<'AWS::Lambda::EventSourceMapping'>,
  functionName: string,
  queueUrl: string,
) {
  const settings = settingsOf(mapping);
  return {
    functionName,
    queueUrl,
    queueArn: mapping.properties.EventSourceArn,
    batchSize: settings.BatchSize,
    maximumBatchingWindowSeconds: settings.MaximumBatchingWindowInSeconds,
    reportBatchItemFailures: settings.FunctionResponseTypes.includes('ReportBatchItemFailures'),
    maximumConcurrency: Math.min(settings.ScalingConfig.MaximumConcurrency ?? MAX_BATCHES, MAX_BATCHES),
  };
}

/** Makes an event source visible in Lambda's API. */
function register(
  mapping: DeployedResource<'AWS::Lambda::EventSourceMapping'>,
  source: SqsEventSource,
  aws: AwsEndpoint,
): void {
  const { EventSourceArn, FunctionName } = mapping.properties;
  aws.addEventSourceMapping({
    eventSourceArn: EventSourceArn,
    // In a template, `FunctionName` is a name or an ARN of a function or its alias.
    functionArn: FunctionName.startsWith('arn:') ? FunctionName : arnOf('lambda', `function:${FunctionName}`),
    settings: settingsOf(mapping),
    disable: () => source.disable(),
    enable: () => source.enable(),
  });
}
