import { setFlagsFromString } from 'node:v8';
import { startAwsEndpoint } from './aws/endpoint.ts';
import { InjectedFaults } from './aws/faults.ts';
import { type ClientSettings, clientSettings } from './aws-caller.ts';
import { deployStack, type FunctionOptions } from './deployed-stack.ts';
import type { LocalFunction } from './functions/local-function.ts';
import { type RequestSummary, startGateway } from './gateway/server.ts';
import type { InspectedMessage, StackObserver } from './observation.ts';

/**
 * Percentage by which each V8 heap may grow beyond its used size before garbage is collected. With the
 * default of 400, the thread of the AWS endpoint would need 150 MB.
 */
const HEAP_GROWING_PERCENT = 50;

export interface LocalStackOptions extends FunctionOptions {
  /** Folder of the stack's cloud assembly, such as `cdk.out`. */
  readonly assembly: string;
  /** Port of the API; 0 for any free port. */
  readonly port: number;
  /** Port of the AWS endpoint; 0 for any free port. */
  readonly awsPort: number;
  /** Value of each secret that the template creates. */
  readonly secret: string;
  /** Faults that are active from the start, for tests. @default none */
  readonly faults?: InjectedFaults;
  /** Called after every answer of the API. @default none */
  readonly onRequest?: (summary: RequestSummary) => void;
  /** Called with requests, and with what functions write and publish. @default none */
  readonly observer?: StackObserver;
  /** Host names of tunnels to the API, in lower case. @default none: only this machine gets answers */
  readonly publicHosts?: readonly string[];
  /** Called when a request for another host was answered 421, at most once a minute. @default none */
  readonly onForeign?: () => void;
  /** Called with problems of the stack itself. @default none */
  readonly onProblem?: (message: string) => void;
}

export interface Usage {
  readonly requests: number;
  /** Highest resident memory of the process so far, in MiB. */
  readonly peakMegabytes: number;
}

export interface LocalStack {
  readonly name: string;
  /** Outputs, in the form of `cdk deploy --outputs-file`. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Settings of an AWS client that has all permissions. `endpoint` is `http://localhost:<port>`. */
  readonly operator: ClientSettings;
  /** Functions by `serviceOf` their definition. */
  readonly functions: ReadonlyMap<string, LocalFunction>;
  /** Faults of the AWS endpoint. A test injects and ends them. */
  readonly faults: InjectedFaults;
  usage(): Usage;
  /**
   * The messages of a queue in the order of sending. They are not received.
   * @throws Error if the queue does not exist
   */
  inspectQueue(queueUrl: string): Promise<InspectedMessage[]>;
  close(): Promise<void>;
}

/**
 * Runs a synthesised stack on this machine, with only the resources of its template. All state is in memory.
 * @throws Error if the template contains something that cannot run locally, or a port is in use (EADDRINUSE)
 * @example const stack = await startLocalStack({ assembly: 'cdk.out', port: 3000, awsPort: 4566, secret });
 */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const { observer, publicHosts = [], onStep = () => {}, onProblem = () => {} } = options;
  const faults = options.faults ?? new InjectedFaults();
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
      publicHosts,
      onForeign: options.onForeign ?? (() => {}),
    });
    closers.push(() => gateway.close());
    location.apiUrl = gateway.url;
    // Functions are closed first, because an invocation at a breakpoint would delay the others.
    closers.push(() =>
      Promise.all([...(options.inspect?.values() ?? [])].map((inspector) => inspector.close())),
    );

    return {
      name: stack.name,
      outputs: stack.outputs(),
      operator: clientSettings(aws.url, 'operator'),
      faults,
      functions: stack.functions,
      inspectQueue: aws.inspectQueue,
      usage: () => ({ requests, peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024) }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
