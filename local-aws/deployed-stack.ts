import type { AwsEndpoint } from './aws/endpoint.ts';
import { arnOf } from './aws/service-forms.ts';
import { accessKeyOf, awsCaller, clientSettings } from './aws-caller.ts';
import { deploy } from './deploy.ts';
import type { InspectorPort } from './functions/inspector-port.ts';
import { type FunctionLogLine, serviceOf } from './functions/invocation.ts';
import { LocalFunction } from './functions/local-function.ts';
import { SqsEventSource } from './functions/sqs-event-source.ts';
import { deployedApi, type FindFunction } from './gateway/deployed-api.ts';
import { readCloudAssembly, type SynthesisedStack } from './template/cloud-assembly.ts';
import { Resources, type StackLocation } from './template/resources.ts';

/**
 * Maximum number of execution environments of a function. More would not help, because all wait for the single thread of
 * the AWS endpoint. Each environment compiles its own code, and needs about 45 MB.
 */
const MAX_CONCURRENCY = 2;

/** Maximum number of batches of a queue that are processed at the same time. */
const MAX_BATCHES = 2;

export interface FunctionOptions {
  /** Environment variables that replace those of the template. @default none */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether the functions of the API and of event sources are loaded at the start. @default true */
  readonly warmUp?: boolean;
  /** Ports for debuggers, by `serviceOf` the functions. @default none */
  readonly inspect?: ReadonlyMap<string, InspectorPort>;
  /** Called with every line that a function writes. @default none */
  readonly onLog?: (line: FunctionLogLine) => void;
  /** Called with each step while the stack starts. @default none */
  readonly onStep?: (step: string) => void;
}

interface DeployedStackOptions extends FunctionOptions {
  readonly location: StackLocation;
  /** Value of each secret that the template creates. */
  readonly secret: string;
  readonly onProblem: (message: string) => void;
}

/** A synthesised stack that is deployed to the AWS endpoint: resources, functions and event sources. */
export type DeployedStack = Awaited<ReturnType<typeof deployStack>>;

/**
 * Deploys a synthesised stack to the AWS endpoint.
 * @param assembly folder of the stack's cloud assembly
 * @throws Error if the template contains something that cannot run locally
 */
export async function deployStack(assembly: string, aws: AwsEndpoint, options: DeployedStackOptions) {
  const { location, secret, onProblem, onStep = () => {}, warmUp = true } = options;
  const stack = readCloudAssembly(assembly);
  const resources = new Resources(stack, location);
  for (const type of resources.unknownTypes()) onProblem(`${type} is ignored by the local stack`);
  onStep('Creating queues, topics, tables, buckets, delivery streams and secrets');
  await deploy(resources, aws, secret);
  onStep('Starting the functions');
  await using parts = new AsyncDisposableStack();
  const { functions, find } = createFunctions(resources, stack, aws, options);
  parts.defer(async () => {
    await Promise.all([...functions.values()].map((one) => one.close()));
  });
  const called = new Set<LocalFunction | undefined>();
  const findCalled = (name: string) => {
    const found = find(name);
    called.add(found);
    return found;
  };
  const api = deployedApi(resources, findCalled, aws);
  const sources = eventSources(resources, findCalled, aws, onProblem);
  parts.defer(async () => {
    await Promise.all(sources.map((source) => source.stop()));
  });
  if (warmUp) await Promise.all([...called].map((one) => one?.warmUp()));
  for (const source of sources) source.enable();
  const running = parts.move();
  return {
    name: stack.name,
    /** Functions by `serviceOf` their definition. */
    functions,
    /** The stack's API: an HTTP API or a REST API, as in the template. */
    api,
    /** Outputs, in the form of `cdk deploy --outputs-file`. */
    outputs: () => resources.outputs(),
    close: () => running.disposeAsync(),
  };
}

function createFunctions(
  resources: Resources,
  stack: SynthesisedStack,
  aws: Pick<AwsEndpoint, 'url' | 'createLogGroup' | 'writeLog'>,
  { environment, inspect, onLog }: FunctionOptions,
): { functions: ReadonlyMap<string, LocalFunction>; find: FindFunction } {
  const functions = new Map<string, LocalFunction>();
  const targets = new Map<string, LocalFunction>();
  for (const { arn, name, properties } of resources.ofType('AWS::Lambda::Function')) {
    const { ReservedConcurrentExecutions: reservedConcurrency } = properties;
    const definition = {
      name,
      handler: properties.Handler,
      codeDirectory: stack.assetFolder(properties.Code.S3Key),
      environment: { ...properties.Environment?.Variables, ...environment },
      // The defaults are CloudFormation's.
      timeoutSeconds: properties.Timeout ?? 3,
      memoryMegabytes: properties.MemorySize ?? 128,
      reservedConcurrency,
      maximumConcurrency: Math.min(reservedConcurrency ?? MAX_CONCURRENCY, MAX_CONCURRENCY),
      credentials: clientSettings(aws.url, accessKeyOf(properties.Role)).credentials,
      awsEndpointUrl: aws.url,
    };
    const service = serviceOf(definition);
    const logGroup = properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`;
    aws.createLogGroup(logGroup);
    const log = (line: FunctionLogLine) => {
      aws.writeLog(logGroup, line.text);
      onLog?.({ ...line, functionName: service });
    };
    const created = new LocalFunction(definition, log, inspect?.get(service));
    functions.set(service, created);
    targets.set(arn, created).set(name, created);
  }
  for (const { arn, properties } of resources.ofType('AWS::Lambda::Alias')) {
    const target = targets.get(properties.FunctionName);
    if (target === undefined) throw new Error(`Alias ${arn} needs a function of this stack`);
    targets.set(arn, target).set(`${properties.FunctionName}:${properties.Name}`, target);
  }
  return { functions, find: (name) => targets.get(name) };
}

/** The event sources of a template. They do not poll yet. */
function eventSources(
  resources: Resources,
  find: FindFunction,
  aws: AwsEndpoint,
  onProblem: (message: string) => void,
): SqsEventSource[] {
  const queues = new Map(resources.ofType('AWS::SQS::Queue').map((queue) => [queue.arn, queue.ref]));
  return resources.ofType('AWS::Lambda::EventSourceMapping').map(({ logicalId, properties }) => {
    const { EventSourceArn: queueArn, FunctionName: name } = properties;
    const queueUrl = queues.get(queueArn);
    const target = find(name);
    if (queueUrl === undefined || target === undefined) {
      throw new Error(`Event source mapping ${logicalId} needs a queue and a function of this stack`);
    }
    // The defaults are Lambda's.
    const { BatchSize = 10, FunctionResponseTypes = [], ScalingConfig = {} } = properties;
    const source = new SqsEventSource({
      functionName: serviceOf(target.definition),
      queueUrl,
      queueArn,
      batchSize: BatchSize,
      reportBatchItemFailures: FunctionResponseTypes.includes('ReportBatchItemFailures'),
      maximumConcurrency: Math.min(ScalingConfig.MaximumConcurrency ?? MAX_BATCHES, MAX_BATCHES),
      aws: awsCaller(aws.url, target.definition.credentials.accessKeyId),
      invoke: (event) => target.invoke(event),
      onProblem,
    });
    aws.addEventSourceMapping(source, {
      EventSourceArn: queueArn,
      // In a template, `FunctionName` is a name or an ARN of a function or its alias.
      FunctionArn: name.startsWith('arn:') ? name : arnOf('lambda', `function:${name}`),
      BatchSize,
      MaximumBatchingWindowInSeconds: 0,
      FunctionResponseTypes,
      ScalingConfig: { ...ScalingConfig },
    });
    return source;
  });
}
