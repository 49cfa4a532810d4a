import { setFlagsFromString } from 'node:v8';
import { type Adopted, adopt } from './adopt.ts';
import { startAwsEndpoint } from './aws/endpoint.ts';
import { Faults } from './aws/faults.ts';
import { openKeptState } from './aws/kept-state.ts';
import type { ConsoleUrl } from './console-redirect.ts';
import { type ClientSettings, createAlarms, deploy } from './deploy.ts';
import { type DeployedFunction, DeployedFunctions } from './deployed-functions.ts';
import { startEventSources } from './deployed-sources.ts';
import type { InspectorPort } from './functions/inspector-port.ts';
import type { LogLine } from './functions/invocation.ts';
import type { FunctionError } from './functions/messages.ts';
import { calledByApi, deployedApi } from './gateway/deployed-api.ts';
import { type RequestSummary, startGateway } from './gateway/server.ts';
import { guardedObserver } from './guarded-observer.ts';
import { assertKnownSecretNotAccepted } from './known-secret.ts';
import type { InspectedMessage, StackObserver } from './observation.ts';
import { ACCOUNT_ID, clientSettings, REGION } from './place.ts';
import { admitRoles } from './roles.ts';
import { type StackBeside, startBeside } from './stack-beside.ts';
import { type Difference, RunningResources } from './take-over.ts';
import { readCloudAssembly } from './template/cloud-assembly.ts';
import { Resources } from './template/resources.ts';

/**
 * By how much V8 lets each heap of the process grow beyond what is used of it, until it collects. By default
 * it would be to four times of it, which for the AWS endpoint's thread is 150 MB.
 */
const HEAP_GROWING_PERCENT = 50;

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
  /** Whether functions are loaded before their first delivery: each takes some 0.1 s of processor time. @default true */
  readonly warmUp?: boolean;
  /** Told of every line that a function writes. @default none */
  readonly onLog?: (line: LogLine) => void;
  /** Told of every answer of the API. @default none */
  readonly onRequest?: (summary: RequestSummary) => void;
  /** Told what functions do, and what they are asked: see {@link StackObserver}. @default none */
  readonly observer?: StackObserver;
  /** Where a browser is led that opens either port. @default nowhere: it sees the error that all others see */
  readonly consoleUrl?: ConsoleUrl;
  /** Names by which tunnels lead to the API, in lower case. @default none: it answers this machine alone */
  readonly publicHosts?: readonly string[];
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

/** What came of a further synthesis. */
export interface TakenOver {
  /** Resources that are new or have changed, other than functions that were there before. */
  readonly resources: readonly Difference[];
  /** Functions that have changed, by the name on the command line. */
  readonly functions: readonly string[];
  /** Functions whose code cannot be loaded, and why: they go on as they were. */
  readonly failed: ReadonlyMap<string, FunctionError>;
  /** Resources that stay as they are until the stack is started again. */
  readonly left: readonly Difference[];
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
  /**
   * Lets a function run other code, which begins with its next invocation.
   * @param service its name on the command line
   * @returns why the code cannot be loaded: then the old one goes on
   */
  replaceCode(service: string, codeDirectory: string): Promise<FunctionError | undefined>;
  /**
   * Takes over what another synthesis of the stack has new or changed, as far as that can be done while it runs. Of
   * several calls one at a time, and none beside one of {@link replaceCode}.
   * @param keepCode names of functions whose code is newer than that of the assembly
   * @throws Error where the assembly has what cannot be run here
   */
  takeOver(assembly: string, keepCode?: ReadonlySet<string>): Promise<TakenOver>;
  /**
   * Runs a stack of others beside this one, until this one ends: a subscriber of its topics.
   * @param assembly folder of its cloud assembly
   * @param onLog told of every line that its functions write
   * @throws Error where it has what cannot be run here
   */
  runBeside(assembly: string, onLog?: (line: LogLine) => void): Promise<StackBeside>;
  /** Folders of code that runs, or may be read. */
  readonly codeDirectories: ReadonlySet<string>;
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
    const observer = options.observer && guardedObserver(options.observer, options.onProblem ?? (() => {}));
    step('Starting the AWS endpoint');
    const aws = await startAwsEndpoint({
      port: options.awsPort,
      region: REGION,
      faults,
      kept,
      ...(options.onProblem && { onProblem: options.onProblem }),
      ...(observer && { observer }),
      ...(options.consoleUrl && { consoleUrl: options.consoleUrl }),
    });
    closers.push(() => aws.close());

    let apiUrl = '';
    const place = {
      region: REGION,
      accountId: ACCOUNT_ID,
      awsUrl: aws.url,
      get apiUrl() {
        return apiUrl;
      },
    };
    const onProblem = options.onProblem ?? (() => {});
    let resources = new Resources(stack, place);
    for (const type of resources.unknownTypes()) onProblem(`${type} has no part in the local stack`);

    step('Creating queues, topics, tables, buckets, delivery streams and the secret');
    const operator = clientSettings(aws.url, 'operator');
    if (options.publicHosts?.length) {
      await assertKnownSecretNotAccepted(resources, operator, options.secret);
    }
    const adopted = kept && (await adopt(resources, operator, options.secret));
    for (const note of notes(adopted, options.keep)) options.onNote?.(note);
    await deploy(resources, operator, { secret: options.secret, existing: adopted?.logicalIds });
    createAlarms(resources, aws);
    admitRoles(resources, aws);

    step('Starting the functions');
    const functions = new DeployedFunctions(aws, options);
    closers.push(() => functions.close());
    await functions.add(resources, stack);

    const called = [...calledByApi(resources)].map((name) => functions.target(name)?.function);
    const isBusy = () => called.some((one) => one?.isOverloaded === true);
    const sourceOptions = { functions, aws, onProblem, isBusy };
    const mappings = resources.ofType('AWS::Lambda::EventSourceMapping');
    const sources = startEventSources(mappings, resources, sourceOptions);
    closers.push(() => Promise.all(sources.map((source) => source.stop())));

    const { kind, api } = deployedApi(
      resources,
      { accountId: ACCOUNT_ID, region: REGION },
      (name) => {
        const target = functions.target(name);
        return target && ((event) => target.function.invoke(event));
      },
      aws,
    );
    step(`Starting the ${kind}`);
    let requests = 0;
    const gateway = await startGateway(api, {
      port: options.port,
      onExchange: (exchange) => {
        requests += 1;
        options.onRequest?.(exchange);
        observer?.onExchange(exchange);
      },
      ...(options.consoleUrl && { consoleUrl: options.consoleUrl }),
      ...(options.publicHosts && { publicHosts: options.publicHosts }),
      onForeign: () =>
        onProblem(
          'Requests to another host than localhost, or through a proxy, were answered 421: --public-host lets a tunnel in',
        ),
    });
    closers.push(() => gateway.close());
    apiUrl = gateway.url;
    // First of all, so that what stands at a breakpoint is finished.
    closers.push(() =>
      Promise.all([...(options.inspect?.values() ?? [])].map((inspector) => inspector.close())),
    );
    const running = new RunningResources(resources);
    let outputs = resources.outputs();

    return {
      name: stack.name,
      get outputs() {
        return outputs;
      },
      awsUrl: aws.url,
      operator,
      faults,
      get functions() {
        return functions.byService;
      },
      get codeDirectories() {
        return functions.codeDirectories;
      },
      replaceCode: (service, codeDirectory) => functions.replaceCode(service, codeDirectory),

      async takeOver(assembly, keepCode = new Set()) {
        const next = readCloudAssembly(assembly);
        if (next.name !== stack.name)
          throw new Error(`The stack is called ${next.name} now, not ${stack.name}`);
        const wanted = new Resources(next, place);
        wanted.keepSecrets(resources);
        const differences = running.differencesFrom(wanted);
        const taken = differences.filter(({ canBeTakenOver }) => canBeTakenOver);
        await deploy(wanted, operator, {
          secret: options.secret,
          existing: running.logicalIds,
          // Where another one cannot be made, the next take-over need not make this one again.
          onMade(logicalId) {
            running.tookOver(
              wanted,
              taken.filter((difference) => difference.logicalId === logicalId),
            );
            resources.keepSecrets(wanted);
          },
        });
        createAlarms(wanted, aws);
        admitRoles(wanted, aws);
        const { redefined, failed } = await functions.redefine(wanted, next, keepCode);
        await functions.add(wanted, next);
        const newMappings = wanted
          .ofType('AWS::Lambda::EventSourceMapping')
          .filter(({ logicalId }) => !running.logicalIds.has(logicalId));
        sources.push(...startEventSources(newMappings, wanted, sourceOptions));
        running.tookOver(wanted, taken);
        resources = wanted;
        outputs = wanted.outputs();
        return {
          resources: taken.filter(({ kind, type }) => kind === 'new' || type !== 'AWS::Lambda::Function'),
          functions: redefined,
          failed,
          left: differences.filter((difference) => !taken.includes(difference)),
        };
      },

      async runBeside(assembly, onLog) {
        const neighbourhood = { aws, place, operator, secret: options.secret, onProblem };
        const beside = await startBeside(assembly, neighbourhood, { ...(onLog && { onLog }) });
        closers.push(() => beside.close());
        return beside;
      },

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
