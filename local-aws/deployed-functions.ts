import type { AwsEndpoint } from './aws/endpoint.ts';
import { accessKeyOf, clientSettings } from './client-settings.ts';
import { type FunctionDefinition, serviceOf } from './functions/function-definition.ts';
import type { InspectorPort } from './functions/inspector-port.ts';
import type { FunctionLogLine } from './functions/invocation.ts';
import { LocalFunction, SharedEnvironments } from './functions/local-function.ts';
import { calledByApi } from './gateway/deployed-api.ts';
import type { SynthesisedStack } from './template/cloud-assembly.ts';
import type { DeployedResource, Resources } from './template/resources.ts';

/** Maximum number of execution environments of a function. */
const MAX_CONCURRENCY = 4;

/**
 * Maximum number of execution environments that all functions share beyond one for each. More environments would not
 * help, because all wait for the single thread of the AWS endpoint. Each environment compiles its own code, so its
 * first thousand invocations take twice as long, and the environment needs about 45 MB.
 */
const SHARED_ENVIRONMENTS = 1;

export interface DeployedFunction {
  readonly definition: FunctionDefinition;
  readonly function: LocalFunction;
}

export interface FunctionOptions {
  /** Environment variables that replace those of the template. @default none */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether the functions of the API and of event sources are loaded at the start. @default true */
  readonly warmUp?: boolean;
  /** Ports for debuggers, by `serviceOf` the functions. @default none */
  readonly inspect?: ReadonlyMap<string, InspectorPort>;
  /** Called with every line that a function writes. @default none */
  readonly onLog?: (line: FunctionLogLine) => void;
}

/** The functions of a stack. Each function is found by any of its names in the template. */
export class DeployedFunctions {
  readonly #resources: Resources;
  readonly #aws: Pick<AwsEndpoint, 'url' | 'createLogGroup' | 'writeLog'>;
  readonly #options: FunctionOptions;
  readonly #shared = new SharedEnvironments(SHARED_ENVIRONMENTS);
  /** Functions by {@link serviceOf} their definition. */
  readonly byService = new Map<string, DeployedFunction>();
  readonly #targets = new Map<string, DeployedFunction>();

  constructor(
    resources: Resources,
    stack: SynthesisedStack,
    aws: Pick<AwsEndpoint, 'url' | 'createLogGroup' | 'writeLog'>,
    options: FunctionOptions,
  ) {
    this.#resources = resources;
    this.#aws = aws;
    this.#options = options;
    for (const resource of resources.ofType('AWS::Lambda::Function')) {
      const { arn, name, properties } = resource;
      const logGroup = properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`;
      const item = this.#create(this.#definitionOf(resource, stack), logGroup);
      this.byService.set(serviceOf(item.definition), item);
      this.#targets.set(arn, item).set(name, item);
    }
    for (const { arn, properties } of resources.ofType('AWS::Lambda::Alias')) {
      const item = this.#targets.get(properties.FunctionName);
      if (item === undefined) throw new Error(`Alias ${arn} needs a function of this stack`);
      this.#targets.set(arn, item).set(`${properties.FunctionName}:${properties.Name}`, item);
    }
  }

  /**
   * Finds a function.
   * @param name ARN or name of the function or of its alias
   */
  target(name: string): DeployedFunction | undefined {
    return this.#targets.get(name);
  }

  /**
   * Loads the functions of the API and of event sources. Others are loaded when they are invoked.
   */
  async warmUp(): Promise<void> {
    if (this.#options.warmUp === false) return;
    const sources = this.#resources.ofType('AWS::Lambda::EventSourceMapping');
    const names = [
      ...calledByApi(this.#resources),
      ...sources.map(({ properties }) => properties.FunctionName),
    ];
    const called = new Set(names.map((name) => this.#targets.get(name)));
    await Promise.all([...called].map((item) => item?.function.warmUp()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.byService.values()].map((item) => item.function.close()));
  }

  #create(definition: FunctionDefinition, logGroup: string): DeployedFunction {
    const service = serviceOf(definition);
    this.#aws.createLogGroup(logGroup);
    const write = (line: FunctionLogLine) => {
      this.#aws.writeLog(logGroup, line.text);
      this.#options.onLog?.({ ...line, functionName: service });
    };
    const local = new LocalFunction(definition, write, {
      shared: this.#shared,
      inspector: this.#options.inspect?.get(service),
    });
    return {
      function: local,
      get definition() {
        return local.definition;
      },
    };
  }

  #definitionOf(
    { name, properties }: DeployedResource<'AWS::Lambda::Function'>,
    stack: SynthesisedStack,
  ): FunctionDefinition {
    return {
      name,
      handler: properties.Handler,
      codeDirectory: stack.assetFolder(properties.Code.S3Key),
      environment: { ...properties.Environment?.Variables, ...this.#options.environment },
      // The defaults are CloudFormation's.
      timeoutSeconds: properties.Timeout ?? 3,
      memoryMegabytes: properties.MemorySize ?? 128,
      reservedConcurrency: properties.ReservedConcurrentExecutions,
      maximumConcurrency: properties.ReservedConcurrentExecutions ?? MAX_CONCURRENCY,
      credentials: clientSettings(this.#aws.url, accessKeyOf(properties.Role)).credentials,
      awsEndpointUrl: this.#aws.url,
    };
  }
}
