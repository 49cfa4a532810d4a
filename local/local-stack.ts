import { setFlagsFromString } from 'node:v8';
import { startAwsEndpoint } from './aws/endpoint.ts';
import { Faults } from './aws/faults.ts';
import { openKeptState } from './aws/kept-state.ts';
import { ACCOUNT_ID } from './aws/services.ts';
import { type ClientSettings, clientSettings, REGION } from './client-settings.ts';
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
 * Percentage by which V8 lets each heap grow beyond its used size before it collects. The default of four times would
 * be 150 MB for the thread of the AWS endpoint.
 */
const HEAP_GROWING_PERCENT = 50;

export interface LocalStackOptions extends FunctionOptions {
  readonly assembly: string;
  /** Port of the API; 0 for any free one. */
  readonly port: number;
  /** Port of the AWS endpoint; 0 for any free one. */
  readonly awsPort: number;
  readonly secret: string;
  /** Folder in which the state of the AWS endpoint is stored and found. @default in memory only */
  readonly keep?: string | undefined;
  /** Faults of the AWS endpoint from the start, for tests. @default none */
  readonly faults?: Faults;
  /** Is called after every answer of the API. @default none */
  readonly onRequest?: (summary: RequestSummary) => void;
  /** Is called with the functions' effects and requests. @default none */
  readonly observer?: StackObserver;
  /** Where a browser that opens either port is redirected. @default nowhere: it gets the same error as other clients */
  readonly consoleUrl?: ConsoleUrl;
  /** Names of tunnels to the API, in lower case. @default none: it answers this machine only */
  readonly publicHosts?: readonly string[];
  /** Is called with problems of the stack itself. @default none */
  readonly onProblem?: (message: string) => void;
  /** Is called with notes for the user about the stored state. @default none */
  readonly onNote?: (message: string) => void;
  /** Is called with each step while the stack starts. @default none */
  readonly onStep?: (step: string) => void;
}

export interface Usage {
  readonly requests: number;
  /** The most resident memory of the process so far, in MiB. */
  readonly peakMegabytes: number;
}

/** Another stack that uses resources of this one, such as a subscriber of its topics. */
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
  /** Faults of the AWS endpoint: none until one is injected. */
  readonly faults: Faults;
  /** Folders of code that runs, or may be read. */
  readonly codeDirectories: ReadonlySet<string>;
  /**
   * Changes the code of a function from its next invocation on.
   * @param service its name on the command line
   * @returns why the code cannot be loaded, if so. Then the old code stays
   */
  replaceCode(service: string, codeDirectory: string): Promise<FunctionError | undefined>;
  /**
   * As {@link DeployedStack.update}. Must not be called while another call, or one of {@link replaceCode}, is running.
   */
  update(assembly: string, keepCode?: ReadonlySet<string>): Promise<StackChanges>;
  /**
   * Runs another stack at the same AWS endpoint until this one is closed. It may have functions with queues, but no
   * API.
   * @param assembly folder of its cloud assembly
   * @param onLog is called with every line of its functions
   * @throws Error if it has something that cannot be run here
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
 * Runs a synthesised stack on this machine, with the template's resources only.
 * @throws Error if the template has something that cannot be run here, or a port is taken (EADDRINUSE)
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
        onNote('The secret has changed. The stored one is accepted for 24 more hours, as after a rotation');
      }
    }
    const stack = await DeployedStack.start(options.assembly, aws, { ...options, location, onProblem });
    closers.push(() => stack.close());
    if (stack.leftOver.length > 0) {
      onNote(
        `Stored, but not in the template: ${stack.leftOver.join(', ')}. It stays until ${keep} is deleted`,
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
            'Requests to a host other than localhost, or through a proxy, were answered 421. To allow a tunnel, use --public-host',
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
