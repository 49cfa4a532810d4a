import { setFlagsFromString } from 'node:v8';
import { startAwsEndpoint } from './aws/endpoint.ts';
import { InjectedFaults } from './aws/faults.ts';
import { clientSettings } from './aws-caller.ts';
import { deployStack, type FunctionOptions } from './deployed-stack.ts';
import { startGateway } from './gateway/server.ts';
import type { StackObserver } from './observation.ts';

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
  /** Called with requests, and with what functions write and publish. @default none */
  readonly observer?: StackObserver;
  /** Host names of tunnels to the API, in lower case. @default none: only this machine gets answers */
  readonly publicHosts?: readonly string[];
  /** Called when a request for another host was answered 421, at most once a minute. @default none */
  readonly onForeign?: () => void;
  /** Called with problems of the stack itself. @default none */
  readonly onProblem?: (message: string) => void;
}

export type LocalStack = Awaited<ReturnType<typeof startLocalStack>>;

/**
 * Runs a synthesised stack on this machine, with only the resources of its template. All state is in memory.
 * @throws Error if the template contains something that cannot run locally, or a port is in use (EADDRINUSE)
 * @example const stack = await startLocalStack({ assembly: 'cdk.out', port: 3000, awsPort: 4566, secret });
 */
export async function startLocalStack(options: LocalStackOptions) {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const { observer, publicHosts = [], onStep = () => {}, onProblem = () => {} } = options;
  const faults = options.faults ?? new InjectedFaults();
  await using parts = new AsyncDisposableStack();
  onStep('Starting the AWS endpoint');
  const aws = await startAwsEndpoint({ port: options.awsPort, faults, onProblem, observer });
  parts.defer(() => aws.close());

  const location = { awsUrl: aws.url, apiUrl: '' };
  const stack = await deployStack(options.assembly, aws, { ...options, location, onProblem });
  parts.defer(() => stack.close());

  onStep(`Starting the ${stack.api.kind}`);
  const gateway = await startGateway(stack.api.api, {
    port: options.port,
    onExchange: (exchange) => observer?.onExchange(exchange),
    publicHosts,
    onForeign: options.onForeign,
  });
  parts.defer(() => gateway.close());
  location.apiUrl = gateway.url;
  // Debuggers are disconnected first, because an invocation at a breakpoint would delay the others.
  for (const inspector of options.inspect?.values() ?? []) parts.defer(() => inspector.close());

  const running = parts.move();
  return {
    name: stack.name,
    /** Outputs, in the form of `cdk deploy --outputs-file`. */
    outputs: stack.outputs(),
    /** Settings of an AWS client that has all permissions. `endpoint` is `http://localhost:<port>`. */
    operator: clientSettings(aws.url, 'operator'),
    faults,
    /** Functions by `serviceOf` their definition. */
    functions: stack.functions,
    /** Returns the messages of a queue, oldest first, without receiving them. @throws Error if it does not exist */
    inspectQueue: aws.inspectQueue,
    close: () => running.disposeAsync(),
  };
}
