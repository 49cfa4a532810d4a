import { SQSClient } from '@aws-sdk/client-sqs';
import type { AwsEndpoint } from './aws/endpoint.ts';
import { ACCOUNT_ID } from './aws/services.ts';
import { clientSettings, REGION } from './client-settings.ts';
import { deploy } from './deploy.ts';
import {
  type DeployedFunction,
  DeployedFunctions,
  type FunctionChanges,
  type FunctionOptions,
} from './deployed-functions.ts';
import { SqsEventSource } from './functions/event-source/sqs-event-source.ts';
import { serviceOf } from './functions/function-definition.ts';
import { calledByApi, type DeployedApi, deployedApi } from './gateway/deployed-api.ts';
import { readCloudAssembly, type SynthesisedStack } from './template/cloud-assembly.ts';
import { type Resource, Resources, type StackLocation } from './template/resources.ts';
import { type Difference, templateDiff } from './template/template-diff.ts';

/** Maximum number of batches of a queue that are processed at the same time. */
const MAX_BATCHES = 2;

export interface DeployedStackOptions extends FunctionOptions {
  readonly location: StackLocation;
  /** Value of a new secret. One that exists keeps its value. */
  readonly secret: string;
  readonly onProblem: (message: string) => void;
  /** Is called with what is being done while the stack starts. @default none */
  readonly onStep?: (step: string) => void;
}

export interface StackChanges extends FunctionChanges {
  /** Resources that are new, changed or removed. Functions that were there before are in `changed` and `failed`. */
  readonly resources: readonly Difference[];
}

interface RunningSource {
  readonly source: SqsEventSource;
  readonly remove: () => void;
}

/**
 * A synthesised stack at the AWS endpoint: its resources, functions and event sources. Every template is applied in the
 * same way: the first one, a changed one, and one for stored state.
 */
export class DeployedStack {
  readonly functions: DeployedFunctions;
  readonly #aws: AwsEndpoint;
  readonly #options: DeployedStackOptions;
  /** By mapping and role, as JSON. */
  readonly #sources = new Map<string, RunningSource>();
  /** Event sources of an earlier template that still process messages. */
  readonly #endingSources = new Set<SqsEventSource>();
  #stack: SynthesisedStack;
  #resources: Resources;
  #api: DeployedApi | undefined;
  #called: readonly string[] = [];
  #leftOver: readonly string[] = [];

  /**
   * @param assembly folder of its cloud assembly
   * @throws Error if the template has something that cannot be run here
   * @throws UnusableStateError if an existing table has other keys than in the template
   */
  static async start(
    assembly: string,
    aws: AwsEndpoint,
    options: DeployedStackOptions,
  ): Promise<DeployedStack> {
    const deployed = new DeployedStack(readCloudAssembly(assembly), aws, options);
    for (const type of deployed.#resources.unknownTypes()) {
      options.onProblem(`${type} is ignored by the local stack`);
    }
    try {
      await deployed.#run(deployed.#stack, deployed.#resources, new Set(), options.onStep);
      return deployed;
    } catch (error) {
      await deployed.close();
      throw error;
    }
  }

  private constructor(stack: SynthesisedStack, aws: AwsEndpoint, options: DeployedStackOptions) {
    this.#stack = stack;
    this.#aws = aws;
    this.#options = options;
    this.functions = new DeployedFunctions(aws, options);
    this.#resources = new Resources(stack, options.location);
  }

  get name(): string {
    return this.#stack.name;
  }

  /** Its API, of the kind that the template has. */
  get api(): DeployedApi {
    if (this.#api === undefined) throw new Error('The stack has not started');
    return this.#api;
  }

  /** Resources at the endpoint that the template does not have: `queue orders`. */
  get leftOver(): readonly string[] {
    return this.#leftOver;
  }

  /** As `cdk deploy --outputs-file` writes them. */
  outputs(): Readonly<Record<string, string>> {
    return this.#resources.outputs();
  }

  /**
   * Changes the stack to another template. Deliveries are answered and processed meanwhile. Queues, tables and other
   * stores keep their content, even if the template removes them. Existing delivery streams stay unchanged.
   * @param keepCode names of functions whose code is newer than that of the assembly
   * @throws Error if the template cannot be run. Then the earlier one still runs
   */
  async update(assembly: string, keepCode: ReadonlySet<string>): Promise<StackChanges> {
    const next = readCloudAssembly(assembly);
    if (next.name !== this.name) throw new Error(`The stack is called ${next.name} now, not ${this.name}`);
    const earlier = this.#resources;
    const wanted = new Resources(next, this.#options.location);
    // Throws if something cannot be run, before anything has changed.
    wanted.all();
    const codeBefore = this.#codeDirectories();
    const changes = await this.#run(next, wanted, keepCode).catch(async (error) => {
      await this.#rollBack(codeBefore).catch(() => {});
      throw error;
    });
    this.#stack = next;
    this.#resources = wanted;
    const differences = templateDiff(earlier, wanted);
    this.#removeAlarms(earlier, differences);
    const isReported = ({ kind, type }: Difference) => kind !== 'changed' || type !== 'AWS::Lambda::Function';
    return { ...changes, resources: differences.filter(isReported) };
  }

  async close(): Promise<void> {
    const sources = [...this.#sources.values()].map(({ source }) => source);
    await Promise.all([...sources, ...this.#endingSources].map((source) => source.stop()));
    await this.functions.close();
  }

  async #run(
    stack: SynthesisedStack,
    resources: Resources,
    keepCode: ReadonlySet<string>,
    onStep: (step: string) => void = () => {},
  ): Promise<FunctionChanges> {
    onStep('Creating queues, topics, tables, buckets, delivery streams and the secret');
    this.#leftOver = await deploy(resources, this.#aws, this.#options.secret);
    onStep('Starting the functions');
    const changes = await this.functions.update(resources, stack, keepCode);
    this.#called = calledByApi(resources);
    this.#updateSources(resources);
    const find = (name: string) => {
      const target = this.functions.target(name);
      return target && ((event: unknown) => target.function.invoke(event));
    };
    this.#api = deployedApi(resources, find, this.#aws);
    return changes;
  }

  /** By the functions' names on the command line. */
  #codeDirectories(): Map<string, string> {
    return new Map(
      [...this.functions.byService].map(([service, { definition }]) => [service, definition.codeDirectory]),
    );
  }

  /** Returns to the last template that ran, and to its code, which may be newer than the assembly's. */
  async #rollBack(code: ReadonlyMap<string, string>): Promise<void> {
    await this.#run(this.#stack, this.#resources, new Set(this.functions.byService.keys()));
    for (const [service, codeDirectory] of this.#codeDirectories()) {
      const before = code.get(service);
      if (before !== undefined && before !== codeDirectory) await this.functions.replaceCode(service, before);
    }
  }

  #removeAlarms(earlier: Resources, differences: readonly Difference[]): void {
    const removed = differences.filter(({ kind }) => kind === 'removed').map(({ logicalId }) => logicalId);
    for (const { logicalId, name } of earlier.ofType('AWS::CloudWatch::Alarm')) {
      if (removed.includes(logicalId)) this.#aws.removeAlarm(name);
    }
  }

  /** Starts event sources that are new or changed. Removed ones finish their messages. */
  #updateSources(resources: Resources): void {
    const queues = new Map(resources.ofType('AWS::SQS::Queue').map((queue) => [queue.arn, queue.ref]));
    const wanted = new Map(
      resources.ofType('AWS::Lambda::EventSourceMapping').map((mapping) => {
        const { logicalId, properties } = mapping;
        const queueUrl = queues.get(properties.EventSourceArn);
        const target = this.functions.target(properties.FunctionName);
        if (queueUrl === undefined || target === undefined) {
          throw new Error(`Event source mapping ${logicalId} needs a queue and a function of this stack`);
        }
        const key = JSON.stringify([properties, target.definition.credentials]);
        return [key, { mapping, queueUrl, target }] as const;
      }),
    );
    for (const [key, { source, remove }] of this.#sources) {
      if (wanted.has(key)) continue;
      this.#sources.delete(key);
      remove();
      this.#endingSources.add(source);
      void source.disable().then(() => this.#endingSources.delete(source));
    }
    for (const [key, { mapping, queueUrl, target }] of wanted) {
      if (!this.#sources.has(key)) this.#sources.set(key, this.#startSource(mapping, queueUrl, target));
    }
  }

  #startSource(
    { properties }: Resource<'AWS::Lambda::EventSourceMapping'>,
    queueUrl: string,
    target: DeployedFunction,
  ): RunningSource {
    const { definition } = target;
    const { EventSourceArn, FunctionName, BatchSize, MaximumBatchingWindowInSeconds } = properties;
    const { FunctionResponseTypes, ScalingConfig } = properties;
    const source = new SqsEventSource(
      {
        functionName: serviceOf(definition),
        queueUrl,
        queueArn: EventSourceArn,
        batchSize: BatchSize,
        maximumBatchingWindowSeconds: MaximumBatchingWindowInSeconds,
        reportBatchItemFailures: FunctionResponseTypes.includes('ReportBatchItemFailures'),
        maximumConcurrency: Math.min(ScalingConfig?.MaximumConcurrency ?? MAX_BATCHES, MAX_BATCHES),
        region: REGION,
      },
      {
        // Lambda polls with the rights of the function's role.
        client: new SQSClient(clientSettings(definition.awsEndpointUrl, definition.credentials.accessKeyId)),
        invoke: (event) => target.function.invoke(event),
        onProblem: this.#options.onProblem,
        // Requests come first. In AWS they do not share processors with batches.
        isBusy: () =>
          this.#called.some((name) => this.functions.target(name)?.function.isOverloaded === true),
      },
    );
    source.enable();
    const remove = this.#aws.addEventSourceMapping({
      eventSourceArn: EventSourceArn,
      functionArn: functionArn(FunctionName),
      settings: {
        BatchSize,
        MaximumBatchingWindowInSeconds,
        FunctionResponseTypes,
        ScalingConfig: { ...ScalingConfig },
      },
      disable: () => source.disable(),
      enable: () => source.enable(),
    });
    return { source, remove };
  }
}

/** @param name of a function, with its alias. A template may have this name or the ARN */
function functionArn(name: string): string {
  return name.startsWith('arn:') ? name : `arn:aws:lambda:${REGION}:${ACCOUNT_ID}:function:${name}`;
}
