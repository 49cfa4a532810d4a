import type { AwsEndpoint } from './aws/endpoint.ts';
import { accessKeyOf, clientSettings, REGION } from './client-settings.ts';
import { type FunctionDefinition, serviceOf } from './functions/function-definition.ts';
import type { InspectorPort } from './functions/inspector-port.ts';
import type { FunctionError, LogLine } from './functions/invocation.ts';
import { LocalFunction, SharedEnvironments } from './functions/local-function.ts';
import { isSameCode } from './functions/same-code.ts';
import { calledByApi } from './gateway/deployed-api.ts';
import type { SynthesisedStack } from './template/cloud-assembly.ts';
import type { Resource, Resources } from './template/resources.ts';

/** Maximum number of execution environments of a function. */
const MAX_CONCURRENCY = 4;

/**
 * Maximum number of execution environments of all functions together, in addition to one for each. More would not help,
 * because all wait for the one thread of the AWS endpoint. Each one compiles its own code, so its first thousand
 * invocations take twice as long, and needs about 45 MB.
 */
const SHARED_ENVIRONMENTS = 1;

export interface DeployedFunction {
  readonly definition: FunctionDefinition;
  readonly function: LocalFunction;
}

interface Deployed extends DeployedFunction {
  logGroup: string;
  /** The template's definition if its code could not be loaded. The next code runs with it. */
  wanted?: FunctionDefinition | undefined;
}

export interface FunctionOptions {
  /** Variables that replace the template's. @default none */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether functions that deliveries reach are loaded before the first one. @default true */
  readonly warmUp?: boolean;
  /** Debugger ports, by the functions' names on the command line. @default none */
  readonly inspect?: ReadonlyMap<string, InspectorPort>;
  /** Is called with every line that a function writes. @default none */
  readonly onLog?: (line: LogLine) => void;
}

/** Changes to existing functions, by their names on the command line. */
export interface FunctionChanges {
  readonly changed: readonly string[];
  /** Functions whose new code cannot be loaded, with the reason. They stay as they were. */
  readonly failed: ReadonlyMap<string, FunctionError>;
}

/** The functions of a stack, by all their names in a template. */
export class DeployedFunctions {
  readonly #aws: Pick<AwsEndpoint, 'url' | 'createLogGroup' | 'writeLog'>;
  readonly #options: FunctionOptions;
  readonly #shared = new SharedEnvironments(SHARED_ENVIRONMENTS);
  #byArn = new Map<string, Deployed>();
  /** They may still run an invocation. */
  readonly #removed: LocalFunction[] = [];
  #targets = new Map<string, Deployed>();

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

  /**
   * Runs the functions of a template, and no others. The code that began an invocation also finishes it.
   * @param keepCode names of functions whose code is newer than the template's
   */
  async update(
    resources: Resources,
    stack: SynthesisedStack,
    keepCode: ReadonlySet<string> = new Set(),
  ): Promise<FunctionChanges> {
    const before = this.#byArn;
    const after = new Map<string, Deployed>();
    const targets = new Map<string, Deployed>();
    const updates: (() => Promise<void>)[] = [];
    const changed: string[] = [];
    const failed = new Map<string, FunctionError>();
    for (const resource of resources.ofType('AWS::Lambda::Function')) {
      const { arn, name, properties } = resource;
      const definition = this.#definitionOf(resource, stack);
      const existing = before.get(arn);
      const item = existing ?? this.#create(definition);
      item.logGroup = properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`;
      this.#aws.createLogGroup(item.logGroup);
      after.set(arn, item);
      targets.set(arn, item).set(name, item);
      if (existing === undefined) continue;
      updates.push(async () => {
        const service = serviceOf(existing.definition);
        const { codeDirectory } = existing.definition;
        const isCodeKept =
          keepCode.has(service) || (await isSameCode(definition.codeDirectory, codeDirectory));
        const wanted = isCodeKept ? { ...definition, codeDirectory } : definition;
        if (JSON.stringify(wanted) === JSON.stringify(existing.definition)) return;
        const failure = await this.#redefine(existing, wanted);
        if (failure === undefined) changed.push(service);
        else failed.set(service, failure);
      });
    }
    for (const { arn, properties } of resources.ofType('AWS::Lambda::Alias')) {
      const item = targets.get(properties.FunctionName);
      if (item === undefined) throw new Error(`Alias ${arn} needs a function of this stack`);
      targets.set(arn, item).set(`${properties.FunctionName}:${properties.Name}`, item);
    }
    await Promise.all(updates.map((update) => update()));
    this.#byArn = after;
    this.#targets = targets;
    if (this.#options.warmUp !== false) {
      await Promise.all([...this.#calledAtRuntime(resources)].map((item) => item.function.warmUp()));
    }
    for (const [arn, item] of before) {
      if (after.has(arn)) continue;
      item.function.retire();
      this.#removed.push(item.function);
    }
    return { changed, failed };
  }

  /** @returns why the code cannot be loaded, if so. Then the old code stays */
  async replaceCode(service: string, codeDirectory: string): Promise<FunctionError | undefined> {
    const item = [...this.#byArn.values()].find(({ definition }) => serviceOf(definition) === service);
    if (item === undefined) throw new Error(`No function ${service}`);
    return await this.#redefine(item, { ...(item.wanted ?? item.definition), codeDirectory });
  }

  /** Folders of code that is running or may be read. */
  get codeDirectories(): Set<string> {
    const functions = [...this.#byArn.values()].map((item) => item.function);
    return new Set(functions.flatMap((one) => [...one.codeDirectories]));
  }

  async close(): Promise<void> {
    const functions = [...this.#byArn.values()].map((item) => item.function);
    await Promise.all([...functions, ...this.#removed].map((one) => one.close()));
  }

  async #redefine(item: Deployed, definition: FunctionDefinition): Promise<FunctionError | undefined> {
    const failure = await item.function.redefine(definition);
    item.wanted = failure && definition;
    return failure;
  }

  #create(definition: FunctionDefinition): Deployed {
    const service = serviceOf(definition);
    const write = (line: LogLine) => {
      this.#aws.writeLog(item.logGroup, line.text);
      this.#options.onLog?.({ ...line, functionName: service });
    };
    const local = new LocalFunction(definition, write, {
      shared: this.#shared,
      inspector: this.#options.inspect?.get(service),
    });
    const item = {
      function: local,
      get definition() {
        return local.definition;
      },
      logGroup: '',
    };
    return item;
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
      maximumConcurrency: properties.ReservedConcurrentExecutions ?? MAX_CONCURRENCY,
      credentials: clientSettings(this.#aws.url, accessKeyOf(properties.Role)).credentials,
      region: REGION,
      awsEndpointUrl: this.#aws.url,
    };
  }

  /** The functions that process deliveries. The others, such as the smoke test, start when they are invoked. */
  #calledAtRuntime(resources: Resources): Set<DeployedFunction> {
    const called = [
      ...calledByApi(resources),
      ...resources.ofType('AWS::Lambda::EventSourceMapping').map(({ properties }) => properties.FunctionName),
    ];
    return new Set(called.map((name) => this.#targets.get(name)).filter((item) => item !== undefined));
  }
}
