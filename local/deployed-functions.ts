import type { AwsEndpoint } from './aws/endpoint.ts';
import { type FunctionDefinition, serviceOf } from './functions/function-definition.ts';
import type { InspectorPort } from './functions/inspector-port.ts';
import type { LogLine } from './functions/invocation.ts';
import { LocalFunction } from './functions/local-function.ts';
import type { FunctionError } from './functions/messages.ts';
import { isSameCode } from './functions/same-code.ts';
import { SharedEnvironments } from './functions/shared-environments.ts';
import { calledByApi } from './gateway/deployed-api.ts';
import { clientSettings, REGION } from './place.ts';
import { accessKeyOf } from './roles.ts';
import type { SynthesisedStack } from './template/cloud-assembly.ts';
import type { Resource, Resources } from './template/resources.ts';

/** Execution environments of a function at most. */
const MAXIMUM_CONCURRENCY = 4;

/**
 * Execution environments of all functions together, beyond the first one of each. More serve no more: what
 * they wait for is the one thread of the AWS endpoint, and each has its code to compile, for which its first thousand
 * invocations take twice as long as later ones. Each takes some 45 MB.
 */
const SHARED_ENVIRONMENTS = 1;

export interface DeployedFunction {
  readonly definition: FunctionDefinition;
  readonly function: LocalFunction;
}

export interface FunctionOptions {
  /** Variables that replace the template's. @default none */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether what deliveries come to is loaded before the first one. @default true */
  readonly warmUp?: boolean;
  /** Where debuggers find functions, by the functions' names on the command line. @default none */
  readonly inspect?: ReadonlyMap<string, InspectorPort>;
  /** Told of every line that a function writes. @default none */
  readonly onLog?: (line: LogLine) => void;
}

/** What became of the functions that a new template changes, by the name on the command line. */
export interface Redefined {
  readonly redefined: readonly string[];
  /** Those whose new code cannot be loaded, and why: the old one goes on. */
  readonly failed: ReadonlyMap<string, FunctionError>;
}

/** The functions of a stack, and what else it is that they are called by. */
export class DeployedFunctions {
  readonly #aws: Pick<AwsEndpoint, 'url' | 'createLogGroup' | 'writeLog'>;
  readonly #options: FunctionOptions;
  readonly #shared = new SharedEnvironments(SHARED_ENVIRONMENTS);
  readonly #byArn = new Map<string, DeployedFunction>();
  /** By all that a template calls them by: ARN or name, of the function or of its alias. */
  readonly #targets = new Map<string, DeployedFunction>();
  /** What the template says of a function whose code could not be loaded with it, by ARN. */
  readonly #wanted = new Map<string, FunctionDefinition>();

  constructor(aws: Pick<AwsEndpoint, 'url' | 'createLogGroup' | 'writeLog'>, options: FunctionOptions) {
    this.#aws = aws;
    this.#options = options;
  }

  /** By the name on the command line: `receiver`, `shop-updated`. */
  get byService(): Map<string, DeployedFunction> {
    return new Map([...this.#byArn.values()].map((item) => [serviceOf(item.definition), item]));
  }

  /** @param name ARN or name, of a function or of its alias */
  target(name: string): DeployedFunction | undefined {
    return this.#targets.get(name);
  }

  /** Adds the functions and aliases of a template that are not there yet, and loads those that deliveries come to. */
  async add(resources: Resources, stack: SynthesisedStack): Promise<void> {
    for (const resource of resources.ofType('AWS::Lambda::Function')) {
      if (!this.#byArn.has(resource.arn)) this.#create(resource, this.#definitionOf(resource, stack));
    }
    for (const { arn, properties } of resources.ofType('AWS::Lambda::Alias')) {
      const item = this.#targets.get(properties.FunctionName);
      if (item === undefined) throw new Error(`Alias ${arn} needs a function of this stack`);
      this.#targets.set(arn, item).set(`${properties.FunctionName}:${properties.Name}`, item);
    }
    if (this.#options.warmUp === false) return;
    await Promise.all([...this.#calledAtRuntime(resources)].map((item) => item.function.warmUp()));
  }

  /**
   * Lets the functions that are there be as another template says.
   * @param keepCode names of those whose code is newer than the template's
   */
  async redefine(
    resources: Resources,
    stack: SynthesisedStack,
    keepCode: ReadonlySet<string>,
  ): Promise<Redefined> {
    const redefined: string[] = [];
    const failed = new Map<string, FunctionError>();
    await Promise.all(
      resources.ofType('AWS::Lambda::Function').map(async (resource) => {
        const item = this.#byArn.get(resource.arn);
        if (item === undefined) return;
        const service = serviceOf(item.definition);
        const { codeDirectory } = item.definition;
        const wanted = this.#definitionOf(resource, stack);
        const hasItsCode = keepCode.has(service) || (await isSameCode(wanted.codeDirectory, codeDirectory));
        const definition = hasItsCode ? { ...wanted, codeDirectory } : wanted;
        if (JSON.stringify(definition) === JSON.stringify(item.definition)) return;
        const failure = await this.#redefine(resource.arn, item, definition);
        if (failure === undefined) redefined.push(service);
        else failed.set(service, failure);
      }),
    );
    return { redefined, failed };
  }

  /** @returns why the code cannot be loaded: the old one goes on */
  async replaceCode(service: string, codeDirectory: string): Promise<FunctionError | undefined> {
    const found = [...this.#byArn].find(([, { definition }]) => serviceOf(definition) === service);
    if (found === undefined) throw new Error(`No function ${service}`);
    const [arn, item] = found;
    return await this.#redefine(arn, item, { ...(this.#wanted.get(arn) ?? item.definition), codeDirectory });
  }

  /** Folders of code that runs, or may be read. */
  get codeDirectories(): Set<string> {
    const functions = [...this.#byArn.values()].map((item) => item.function);
    return new Set(functions.flatMap((one) => [...one.codeDirectories]));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byArn.values()].map((item) => item.function.close()));
  }

  async #redefine(
    arn: string,
    item: DeployedFunction,
    definition: FunctionDefinition,
  ): Promise<FunctionError | undefined> {
    const failure = await item.function.redefine(definition);
    if (failure === undefined) this.#wanted.delete(arn);
    else this.#wanted.set(arn, definition);
    return failure;
  }

  #create(
    { name, arn, properties }: Resource<'AWS::Lambda::Function'>,
    definition: FunctionDefinition,
  ): void {
    const logGroup = properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`;
    this.#aws.createLogGroup(logGroup);
    const write = (line: LogLine) => {
      this.#aws.writeLog(logGroup, line.text);
      this.#options.onLog?.({ ...line, functionName: serviceOf(definition) });
    };
    const local = new LocalFunction(definition, write, {
      shared: this.#shared,
      inspector: this.#options.inspect?.get(serviceOf(definition)),
    });
    const item = {
      function: local,
      get definition() {
        return local.definition;
      },
    };
    this.#byArn.set(arn, item);
    this.#targets.set(arn, item).set(name, item);
  }

  #definitionOf(
    { name, properties }: Resource<'AWS::Lambda::Function'>,
    stack: SynthesisedStack,
  ): FunctionDefinition {
    return {
      name,
      handler: properties.Handler,
      codeDirectory: stack.assetFolder(properties.Code.S3Key),
      environment: { ...properties.Environment.Variables, ...this.#options.environment },
      timeoutSeconds: properties.Timeout,
      memoryMegabytes: properties.MemorySize,
      reservedConcurrency: properties.ReservedConcurrentExecutions,
      maximumConcurrency: properties.ReservedConcurrentExecutions ?? MAXIMUM_CONCURRENCY,
      credentials: clientSettings(this.#aws.url, accessKeyOf(properties.Role)).credentials,
      region: REGION,
      awsEndpointUrl: this.#aws.url,
    };
  }

  /** The functions that a delivery comes to. The others, such as the smoke test, start when they are invoked. */
  #calledAtRuntime(resources: Resources): Set<DeployedFunction> {
    const called = [
      ...calledByApi(resources),
      ...resources.ofType('AWS::Lambda::EventSourceMapping').map(({ properties }) => properties.FunctionName),
    ];
    return new Set(called.map((name) => this.#targets.get(name)).filter((item) => item !== undefined));
  }
}
