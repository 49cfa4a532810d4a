import { setFlagsFromString } from 'node:v8';
import { type AwsEndpoint, startAwsEndpoint } from './aws/endpoint.ts';
import { InjectedFaults } from './aws/faults.ts';
import { type ClientSettings, clientSettings } from './client-settings.ts';
import type { ConsoleUrl } from './console-redirect.ts';
import type { DeployedFunction, FunctionOptions } from './deployed-functions.ts';
import { deployStack } from './deployed-stack.ts';
import type { FunctionError } from './functions/invocation.ts';
import { type RequestSummary, startGateway } from './gateway/server.ts';
import { guardedObserver, type InspectedMessage, type StackObserver } from './observation.ts';

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
  /** Faults of the AWS endpoint from the start, for tests. @default none */
  readonly faults?: InjectedFaults;
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
  /** Is called with each step while the stack starts. @default none */
  readonly onStep?: (step: string) => void;
}

export interface Usage {
  readonly requests: number;
  /** The most resident memory of the process so far, in MiB. */
  readonly peakMegabytes: number;
}

export interface LocalStack {
  readonly name: string;
  /** As `cdk deploy --outputs-file` writes them. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly aws: AwsEndpoint;
  /** `http://localhost:<port>` of the AWS endpoint. */
  readonly awsUrl: string;
  /** Settings for an AWS client that may do everything. */
  readonly operator: ClientSettings;
  /** By the name on the command line: `receiver`, `shop-updated`. */
  readonly functions: ReadonlyMap<string, DeployedFunction>;
  /** Faults of the AWS endpoint: none until one is injected. */
  readonly faults: InjectedFaults;
  /** Folders of code that runs, or may be read. */
  readonly codeDirectories: ReadonlySet<string>;
  /**
   * Changes the code of a function from its next invocation on. Must not be called before an earlier call has ended.
   * @param service its name on the command line
   * @returns why the code cannot be loaded, if so. Then the old code stays
   */
  replaceCode(service: string, codeDirectory: string): Promise<FunctionError | undefined>;
  usage(): Usage;
  /**
   * Looks at the messages of a queue without receiving them, in the order in which they were sent.
   * @throws Error if there is no such queue
   */
  inspectQueue(queueUrl: string): Promise<InspectedMessage[]>;
  close(): Promise<void>;
}

/**
 * Runs a synthesised stack on this machine, with the template's resources only. All state is in memory.
 * @throws Error if the template has something that cannot be run here, or a port is taken (EADDRINUSE)
 */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const { consoleUrl, publicHosts = [], onStep = () => {}, onProblem = () => {} } = options;
  const faults = options.faults ?? new InjectedFaults();
  const observer = options.observer && guardedObserver(options.observer, onProblem);
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    onStep('Starting the AWS endpoint');
    const aws = await startAwsEndpoint({
      port: options.awsPort,
      faults,
      onProblem,
      ...(observer && { observer }),
      ...(consoleUrl && { consoleUrl }),
    });
    closers.push(() => aws.close());

    const location = { awsUrl: aws.url, apiUrl: '' };
    const stack = await deployStack(options.assembly, aws, { ...options, location, onProblem });
    closers.push(() => stack.close());

    onStep(`Starting the ${stack.api.kind}`);
    let requests = 0;
    const gateway = await startGateway(stack.api.api, {
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
    });
    closers.push(() => gateway.close());
    location.apiUrl = gateway.url;
    // Before everything else, so that an invocation at a breakpoint is finished.
    closers.push(() =>
      Promise.all([...(options.inspect?.values() ?? [])].map((inspector) => inspector.close())),
    );

    return {
      name: stack.name,
      outputs: stack.outputs(),
      aws,
      awsUrl: aws.url,
      operator: clientSettings(aws.url, 'operator'),
      faults,
      functions: stack.functions.byService,
      get codeDirectories() {
        return stack.functions.codeDirectories;
      },
      replaceCode: (service, codeDirectory) => stack.functions.replaceCode(service, codeDirectory),
      inspectQueue: aws.inspectQueue,
      usage: () => ({ requests, peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024) }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
