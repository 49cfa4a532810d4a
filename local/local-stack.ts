import { setFlagsFromString } from 'node:v8';
import { SQSClient } from '@aws-sdk/client-sqs';
import { type Adopted, adopt } from './adopt.ts';
import { type AwsEndpoint, startAwsEndpoint } from './aws/endpoint.ts';
import { Faults } from './aws/faults.ts';
import { openKeptState } from './aws/kept/open.ts';
import { type ClientSettings, createAlarms, deploy } from './deploy.ts';
import { type SqsEventSource, startSqsEventSource } from './event-sources/sqs-event-source.ts';
import type { FunctionDefinition } from './functions/function-definition.ts';
import type { InspectorPort } from './functions/inspector-port.ts';
import type { LogLine } from './functions/invocation.ts';
import { LocalFunction } from './functions/local-function.ts';
import { SharedEnvironments } from './functions/shared-environments.ts';
import { calledByApi, deployedApi } from './gateway/deployed-api.ts';
import { type RequestSummary, startGateway } from './gateway/server.ts';
import type { InspectedMessage, StackObserver } from './observation.ts';
import { accessKeyOf, admitRoles } from './roles.ts';
import { readCloudAssembly, type SynthesisedStack } from './template/cloud-assembly.ts';
import { Resources } from './template/resources.ts';

/** The account of fauxqs, and so of everything here. */
const ACCOUNT_ID = '000000000000';
const REGION = 'us-east-1';

/** Execution environments of a function at most. */
const MAXIMUM_CONCURRENCY = 4;

/**
 * Execution environments of all functions together, beyond the first one of each. More serve no more: what
 * they wait for is the one thread of the AWS endpoint. Each takes some 35 MB.
 */
const SHARED_ENVIRONMENTS = 2;

/**
 * By how much V8 lets each heap of the process grow beyond what is used of it, until it collects. By default
 * it would be to four times of it, which for the AWS endpoint's thread is 150 MB.
 */
const HEAP_GROWING_PERCENT = 50;

/** Batches of a queue that are processed at a time, at most. */
const BATCHES_AT_A_TIME = 2;

export interface LocalStackOptions {
  /** Folder of the cloud assembly, such as `cdk.out`. */
  readonly assembly: string;
  /** Port of the API; 0 for any free one. */
  readonly port: number;
  /** Port of the AWS endpoint; 0 for any free one. */
  readonly awsPort: number;
  /** Value of the webhook secret. */
  readonly secret: string;
  /** Folder that the AWS endpoint's state is kept in, and gone on with. @default in memory alone */
  readonly keep?: string | undefined;
  /** What goes wrong at the AWS endpoint from the start, for tests. @default nothing */
  readonly faults?: Faults;
  /** Where debuggers find functions, by the functions' names on the command line. Closed with the stack. @default none */
  readonly inspect?: ReadonlyMap<string, InspectorPort>;
  /** Variables that replace the template's, for tests that cannot wait. @default none */
  readonly environment?: Readonly<Record<string, string>>;
  /** Told of every line that a function writes. @default none */
  readonly onLog?: (line: LogLine) => void;
  /** Told of every answer of the API. @default none */
  readonly onRequest?: (summary: RequestSummary) => void;
  /** Told what functions do, and what they are asked: see {@link StackObserver}. @default none */
  readonly observer?: StackObserver;
  /** Told of what goes wrong in the stack itself. @default none */
  readonly onProblem?: (message: string) => void;
  /** Told what whoever starts it should know of the state that was kept. @default none */
  readonly onNote?: (message: string) => void;
  /** Told what is being done while the stack starts. @default none */
  readonly onStep?: (step: string) => void;
}

/** What a stack has done and taken. */
export interface Usage {
  /** Requests that the API has answered. */
  readonly requests: number;
  /** The most memory that the process has held so far, in MiB: resident, of all its threads. */
  readonly peakMegabytes: number;
}

export interface LocalStack {
  readonly name: string;
  /** The stack's outputs, as `cdk deploy --outputs-file` writes them. */
  readonly outputs: Readonly<Record<string, string>>;
  /** `http://localhost:<port>` of the AWS endpoint. */
  readonly awsUrl: string;
  /** Settings for an AWS client that may do everything. */
  readonly operator: ClientSettings;
  /** By the name on the command line: `receiver`, `shop-updated`. */
  readonly functions: ReadonlyMap<string, DeployedFunction>;
  /** What goes wrong at the AWS endpoint: nothing until a test injects it. */
  readonly faults: Faults;
  usage(): Usage;
  /**
   * Looks at the messages of a queue without receiving them, those that were sent first coming first.
   * @throws Error where there is no such queue
   */
  inspectQueue(queueUrl: string): Promise<InspectedMessage[]>;
  /** Ends it and frees its ports. */
  close(): Promise<void>;
}

/**
 * Runs a synthesised stack on this machine: what its template says, and nothing else.
 * @throws Error where the template has what cannot be run here, or a port is taken (EADDRINUSE)
 * @throws UnusableStateError where the state that was kept cannot be gone on with
 */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const step = options.onStep ?? (() => {});
  const stack = readCloudAssembly(options.assembly);
  const faults = options.faults ?? new Faults();
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const kept =
      options.keep === undefined
        ? undefined
        : await openKeptState(options.keep, options.onProblem ?? (() => {}));
    closers.push(async () => kept?.close());
    step('Starting the AWS endpoint');
    const aws = await startAwsEndpoint({
      port: options.awsPort,
      region: REGION,
      accountId: ACCOUNT_ID,
      faults,
      kept,
      ...(options.onProblem && { onProblem: options.onProblem }),
      ...(options.observer && { observer: options.observer }),
    });
    closers.push(() => aws.close());

    let apiUrl = '';
    const resources = new Resources(stack, {
      region: REGION,
      accountId: ACCOUNT_ID,
      awsUrl: aws.url,
      get apiUrl() {
        return apiUrl;
      },
    });
    for (const type of resources.unknownTypes())
      options.onProblem?.(`${type} has no part in the local stack`);

    step('Creating queues, topics, tables, buckets, delivery streams and the secret');
    const operator = clientSettings(aws.url, 'operator');
    const adopted = kept && (await adopt(resources, operator, options.secret));
    for (const note of notes(adopted, options.keep)) options.onNote?.(note);
    await deploy(resources, operator, options.secret, adopted?.logicalIds);
    createAlarms(resources, aws);
    admitRoles(resources, aws);

    step('Starting the functions');
    const functions = createFunctions(resources, stack, aws, options);
    closers.push(() => Promise.all([...functions.values()].map((item) => item.function.close())));
    const targets = invocationTargets(resources, functions);
    await Promise.all([...calledAtRuntime(resources, targets)].map((item) => item.function.warmUp()));

    const sources = startEventSources(resources, targets, aws, options.onProblem ?? (() => {}));
    closers.push(() => Promise.all(sources.map((source) => source.stop())));

    const { kind, api } = deployedApi(resources, { accountId: ACCOUNT_ID, region: REGION }, (name) => {
      const target = targets.get(name);
      return target && ((event) => target.function.invoke(event));
    });
    step(`Starting the ${kind}`);
    let requests = 0;
    const gateway = await startGateway(api, {
      port: options.port,
      onExchange: (exchange) => {
        requests += 1;
        options.onRequest?.(exchange);
        options.observer?.onExchange(exchange);
      },
    });
    closers.push(() => gateway.close());
    apiUrl = gateway.url;
    // First of all, so that what stands at a breakpoint is finished.
    closers.push(() =>
      Promise.all([...(options.inspect?.values() ?? [])].map((inspector) => inspector.close())),
    );

    return {
      name: stack.name,
      outputs: resources.outputs(),
      awsUrl: aws.url,
      operator,
      faults,
      functions: new Map(
        [...functions.values()].map((item) => [
          item.definition.environment.POWERTOOLS_SERVICE_NAME ?? item.definition.name,
          item,
        ]),
      ),
      inspectQueue: aws.inspectQueue,
      usage: () => ({ requests, peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024) }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function notes(adopted: Adopted | undefined, folder = ''): string[] {
  if (adopted === undefined) return [];
  const { leftOver, isSecretNew } = adopted;
  return [
    ...(isSecretNew
      ? ['The secret is not the one that was kept, which is accepted for 24 more hours, as after a rotation']
      : []),
    ...(leftOver.length > 0
      ? [`Kept, but not of the template: ${leftOver.join(', ')}. It stays until ${folder} is deleted`]
      : []),
  ];
}

interface DeployedFunction {
  readonly definition: FunctionDefinition;
  readonly function: LocalFunction;
}

type Functions = ReadonlyMap<string, DeployedFunction>;

function clientSettings(endpoint: string, accessKeyId: string): ClientSettings {
  return { endpoint, region: REGION, credentials: { accessKeyId, secretAccessKey: 'local' } };
}

/** The functions by their ARN. */
function createFunctions(
  resources: Resources,
  stack: SynthesisedStack,
  aws: AwsEndpoint,
  { environment, onLog = () => {}, inspect }: LocalStackOptions,
): Functions {
  const shared = new SharedEnvironments(SHARED_ENVIRONMENTS);
  return new Map(
    resources.ofType('AWS::Lambda::Function').map(({ name, arn, properties }) => {
      const definition: FunctionDefinition = {
        name,
        handler: properties.Handler,
        codeDirectory: stack.assetFolder(properties.Code.S3Key),
        environment: { ...properties.Environment.Variables, ...environment },
        timeoutSeconds: properties.Timeout,
        memoryMegabytes: properties.MemorySize,
        reservedConcurrency: properties.ReservedConcurrentExecutions,
        maximumConcurrency: properties.ReservedConcurrentExecutions ?? MAXIMUM_CONCURRENCY,
        credentials: clientSettings(aws.url, accessKeyOf(properties.Role)).credentials,
        region: REGION,
        awsEndpointUrl: aws.url,
      };
      const inspector = inspect?.get(definition.environment.POWERTOOLS_SERVICE_NAME ?? name);
      const logGroup = properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`;
      aws.createLogGroup(logGroup);
      const write = (line: LogLine) => {
        aws.writeLog(logGroup, line.text);
        onLog(line);
      };
      return [arn, { definition, function: new LocalFunction(definition, write, { shared, inspector }) }];
    }),
  );
}

/** The functions by all that a template calls them by: ARN or name, of the function or of its alias. */
function invocationTargets(resources: Resources, functions: Functions): Functions {
  const targets = new Map(functions);
  for (const item of functions.values()) targets.set(item.definition.name, item);
  for (const { arn, properties } of resources.ofType('AWS::Lambda::Alias')) {
    const item = targets.get(properties.FunctionName);
    if (item === undefined) throw new Error(`Alias ${arn} needs a function of this stack`);
    targets.set(arn, item).set(`${properties.FunctionName}:${properties.Name}`, item);
  }
  return targets;
}

/** The functions that a delivery comes to. The others, such as the smoke test, start when they are invoked. */
function calledAtRuntime(resources: Resources, targets: Functions): Set<DeployedFunction> {
  const called = [
    ...calledByApi(resources),
    ...resources.ofType('AWS::Lambda::EventSourceMapping').map(({ properties }) => properties.FunctionName),
  ];
  return new Set(called.map((name) => targets.get(name)).filter((item) => item !== undefined));
}

function startEventSources(
  resources: Resources,
  targets: Functions,
  aws: AwsEndpoint,
  onProblem: (message: string) => void,
): SqsEventSource[] {
  const queues = new Map(resources.ofType('AWS::SQS::Queue').map((queue) => [queue.arn, queue.ref]));
  return resources.ofType('AWS::Lambda::EventSourceMapping').map(({ logicalId, properties }) => {
    const queueUrl = queues.get(properties.EventSourceArn);
    const target = targets.get(properties.FunctionName);
    if (queueUrl === undefined || target === undefined) {
      throw new Error(`Event source mapping ${logicalId} needs a queue and a function of this stack`);
    }
    const { definition } = target;
    const source = startSqsEventSource(
      {
        functionName: definition.name,
        queueUrl,
        queueArn: properties.EventSourceArn,
        batchSize: properties.BatchSize,
        maximumBatchingWindowSeconds: properties.MaximumBatchingWindowInSeconds,
        reportBatchItemFailures: properties.FunctionResponseTypes.includes('ReportBatchItemFailures'),
        maximumConcurrency: Math.min(
          properties.ScalingConfig?.MaximumConcurrency ?? BATCHES_AT_A_TIME,
          BATCHES_AT_A_TIME,
        ),
        region: REGION,
      },
      {
        // Lambda polls with the rights of the function's role.
        client: new SQSClient(clientSettings(definition.awsEndpointUrl, definition.credentials.accessKeyId)),
        invoke: (event) => target.function.invoke(event),
        onProblem,
      },
    );
    aws.addEventSourceMapping({
      eventSourceArn: properties.EventSourceArn,
      functionArn: functionArn(properties.FunctionName),
      settings: {
        BatchSize: properties.BatchSize,
        MaximumBatchingWindowInSeconds: properties.MaximumBatchingWindowInSeconds,
        FunctionResponseTypes: properties.FunctionResponseTypes,
        ScalingConfig: { ...properties.ScalingConfig },
      },
      disable: () => source.disable(),
      enable: () => source.enable(),
    });
    return source;
  });
}

/** @param name of a function, with its alias: a template may have this or the ARN */
function functionArn(name: string): string {
  return name.startsWith('arn:') ? name : `arn:aws:lambda:${REGION}:${ACCOUNT_ID}:function:${name}`;
}
