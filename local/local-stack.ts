import { setFlagsFromString } from 'node:v8';
import { startAwsEndpoint } from './aws/endpoint.ts';
import { Faults } from './aws/faults.ts';
import { openKeptState } from './aws/kept-state.ts';
import { ACCOUNT_ID, type ClientSettings, clientSettings, REGION } from './client-settings.ts';
import type { ConsoleUrl } from './console-redirect.ts';
import type { DeployedFunction, FunctionOptions } from './deployed-functions.ts';
import { DeployedStack, type StackChanges } from './deployed-stack.ts';
import type { FunctionError, LogLine } from './functions/invocation.ts';
import { type RequestSummary, startGateway } from './gateway/server.ts';
import { assertKnownSecretNotAccepted, rotateSecret } from './kept-secret.ts';
import { guardedObserver, type InspectedMessage, type StackObserver } from './observation.ts';
import { readCloudAssembly } from './template/cloud-assembly.ts';
import { Resources } from './template/resources.ts';

/**
 * By how much V8 lets each heap of the process grow beyond what is used of it, until it collects. By default
 * it would be to four times of it, which for the AWS endpoint's thread is 150 MB.
 */
const HEAP_GROWING_PERCENT = 50;

export interface LocalStackOptions extends FunctionOptions {
  readonly assembly: string;
  /** Port of the API; 0 for any free one. */
  readonly port: number;
  /** Port of the AWS endpoint; 0 for any free one. */
  readonly awsPort: number;
  readonly secret: string;
  /** Folder in which the AWS endpoint's state is stored, and from which it continues. @default in memory only */
  readonly keep?: string | undefined;
  /** What goes wrong at the AWS endpoint from the start, for tests. @default nothing */
  readonly faults?: Faults;
  /** Is called after every answer of the API. @default none */
  readonly onRequest?: (summary: RequestSummary) => void;
  /** Is called with what functions do, and what they are asked. @default none */
  readonly observer?: StackObserver;
  /** Where a browser that opens either port is redirected. @default nowhere: it sees the error that all others see */
  readonly consoleUrl?: ConsoleUrl;
  /** Names of tunnels to the API, in lower case. @default none: it answers this machine only */
  readonly publicHosts?: readonly string[];
  /** Is called with what goes wrong in the stack itself. @default none */
  readonly onProblem?: (message: string) => void;
  /** Is called with what a user should know about the stored state. @default none */
  readonly onNote?: (message: string) => void;
  /** Is called with what is being done while the stack starts. @default none */
  readonly onStep?: (step: string) => void;
}

export interface Usage {
  readonly requests: number;
  /** The most memory that the process has had so far, in MiB: resident, of all its threads. */
  readonly peakMegabytes: number;
}

/** Somebody else's stack, which uses what this one has, such as a subscriber of its topics. */
export interface StackBeside {
  readonly name: string;
  /** As `cdk deploy --outputs-file` writes them. */
  readonly outputs: Readonly<Record<string, string>>;
}

export interface LocalStack extends StackBeside {
  /** `http://localhost:<port>` of the AWS endpoint. */
  readonly awsUrl: string;
  /** Settings for an AWS client that may do everything. */
  readonly operator: ClientSettings;
  /** By the name on the command line: `receiver`, `shop-updated`. */
  readonly functions: ReadonlyMap<string, DeployedFunction>;
  /** What goes wrong at the AWS endpoint: nothing until a test injects it. */
  readonly faults: Faults;
  /** Folders of code that runs, or may be read. */
  readonly codeDirectories: ReadonlySet<string>;
  /**
   * Lets a function run other code from its next invocation on.
   * @param service its name on the command line
   * @returns why the code cannot be loaded: then the old one stays
   */
  replaceCode(service: string, codeDirectory: string): Promise<FunctionError | undefined>;
  /**
   * Runs another template of the stack, as {@link DeployedStack.update}. Not to be called while another call, or one of
   * {@link replaceCode}, is running.
   */
  update(assembly: string, keepCode?: ReadonlySet<string>): Promise<StackChanges>;
  /**
   * Runs somebody else's stack at the same AWS endpoint until this one is closed. It has functions on queues, and no API.
   * @param assembly folder of its cloud assembly
   * @param onLog is called with every line that its functions write
   * @throws Error if it has what cannot be run here
   */
  runBeside(assembly: string, onLog?: (line: LogLine) => void): Promise<StackBeside>;
  usage(): Usage;
  /**
   * Looks at the messages of a queue without receiving them, in the order in which they were sent.
   * @throws Error if there is no such queue
   */
  inspectQueue(queueUrl: string): Promise<InspectedMessage[]>;
  close(): Promise<void>;
}

/**
 * Runs a synthesised stack on this machine: what its template says, and nothing else.
 * @throws Error if the template has what cannot be run here, or a port is taken (EADDRINUSE)
 * @throws UnusableStateError if the stored state cannot be continued
 */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const { keep, secret, consoleUrl, publicHosts = [] } = options;
  const { onStep = () => {}, onNote = () => {}, onProblem = () => {} } = options;
  const faults = options.faults ?? new Faults();
  const observer = options.observer && guardedObserver(options.observer, onProblem);
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const kept = keep === undefined ? undefined : await openKeptState(keep, onProblem);
    closers.push(async () => kept?.close());
    onStep('Starting the AWS endpoint');
    const aws = await startAwsEndpoint({
      port: options.awsPort,
      region: REGION,
      faults,
      kept,
      onProblem,
      ...(observer && { observer }),
      ...(consoleUrl && { consoleUrl }),
    });
    closers.push(() => aws.close());

    let apiUrl = '';
    const location = {
      region: REGION,
      accountId: ACCOUNT_ID,
      awsUrl: aws.url,
      get apiUrl() {
        return apiUrl;
      },
    };
    const operator = clientSettings(aws.url, 'operator');
    if (kept !== undefined) {
      const resources = new Resources(readCloudAssembly(options.assembly), location);
      if (publicHosts.length > 0) await assertKnownSecretNotAccepted(resources, operator, secret);
      if (await rotateSecret(resources, operator, secret)) {
        onNote(
          'The secret is not the one that was kept, which is accepted for 24 more hours, as after a rotation',
        );
      }
    }
    const stack = await DeployedStack.start(options.assembly, aws, { ...options, location, onProblem });
    closers.push(() => stack.close());
    if (stack.leftOver.length > 0) {
      onNote(
        `Kept, but not of the template: ${stack.leftOver.join(', ')}. It stays until ${keep} is deleted`,
      );
    }

    onStep(`Starting the ${stack.api.kind}`);
    let requests = 0;
    const gateway = await startGateway(
      { answer: (request, readBody) => stack.api.api.answer(request, readBody) },
      {
        port: options.port,
        onExchange: (exchange) => {
          requests += 1;
          options.onRequest?.(exchange);
          observer?.onExchange(exchange);
        },
        ...(consoleUrl && { consoleUrl }),
        publicHosts,
        onForeign: () =>
          onProblem(
            'Requests to another host than localhost, or through a proxy, were answered 421: --public-host lets a tunnel in',
          ),
      },
    );
    closers.push(() => gateway.close());
    apiUrl = gateway.url;
    // Before everything else, so that an invocation at a breakpoint is finished.
    closers.push(() =>
      Promise.all([...(options.inspect?.values() ?? [])].map((inspector) => inspector.close())),
    );
    let outputs = stack.outputs();

    return {
      name: stack.name,
      get outputs() {
        return outputs;
      },
      awsUrl: aws.url,
      operator,
      faults,
      get functions() {
        return stack.functions.byService;
      },
      get codeDirectories() {
        return stack.functions.codeDirectories;
      },
      replaceCode: (service, codeDirectory) => stack.functions.replaceCode(service, codeDirectory),
      async update(assembly, keepCode = new Set()) {
        const changes = await stack.update(assembly, keepCode);
        outputs = stack.outputs();
        return changes;
      },
      async runBeside(assembly, onLog) {
        const beside = await DeployedStack.start(assembly, aws, {
          location,
          secret,
          onProblem,
          ...(onLog && { onLog }),
        });
        closers.push(() => beside.close());
        return { name: beside.name, outputs: beside.outputs() };
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
