import type { LocalStack } from 'local-aws';
import { InspectorPort } from 'local-aws/inspector-port';
import { stageOverrides, synthesise } from '../../bin/synthesise.ts';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import type { Notice } from '../console/api.ts';
import type { PageCommands } from '../console/server/console-context.ts';
import type { LocalConsole } from '../console/server/start-console.ts';
import { OUTPUTS_FILE, SYNTHESISED_FOLDER, Workspace } from '../stage/local-folder.ts';
import type { GatewayKind } from '../terminal/options.ts';
import { interruption } from '../terminal/terminal.ts';
import { type InspectedFunction, inspectText } from './inspected-functions.ts';
import { adjustAssembly, writeAssembly } from './local-assembly.ts';
import { LogFormat } from './log-format.ts';
import { SourceWatch } from './source-watch.ts';
import { restartTyped } from './stack-process.ts';

/** Values of the options of `npm start`. */
export interface StartSettings {
  readonly port: number;
  readonly awsPort: number;
  readonly consolePort: number;
  readonly secret: string;
  readonly gateway?: GatewayKind | undefined;
  /** Host names of tunnels to the webhook. */
  readonly publicHost?: readonly string[] | undefined;
  readonly retryFast?: boolean | undefined;
  readonly inspect?: readonly InspectedFunction[] | undefined;
  /** Whether saved sources take effect while the stack runs. */
  readonly watch: boolean;
}

interface StackRun extends StartSettings {
  /** Commands that the console runs for its page. */
  readonly commands: PageCommands;
}

/**
 * Runs the stack until Ctrl-C, or until the user wants a restart.
 * @returns options by which the next stack gets the same ports; undefined after Ctrl-C
 */
export async function runStack(settings: StackRun): Promise<readonly string[] | undefined> {
  const { secret, inspect: inspected = [], publicHost: publicHosts = [] } = settings;
  const started = performance.now();
  const format = new LogFormat();
  await using workspace = await Workspace.open();
  const step = (text: string) => console.log(`${text} …`);
  step('Synthesising the stack');
  const onProblem = (message: string) => console.error(`Problem: ${message}`);
  // Opened before the synthesis, so that a file that is saved meanwhile counts as changed.
  await using sources = settings.watch ? await SourceWatch.open(onProblem) : undefined;
  // These modules load while another process synthesises the stack.
  const [{ startLocalStack }, { LocalFeed }, { startLocalConsole }] = await Promise.all([
    import('local-aws'),
    import('../stage/history/local-feed.ts'),
    import('../console/server/start-console.ts'),
    synthesiseTo(workspace.assembly, settings),
  ]);
  using feed = new LocalFeed();
  const inspectors = new Map<string, InspectorPort>();
  for (const { service, port } of inspected) inspectors.set(service, await InspectorPort.open(port));
  let requests = 0;
  const stack = await startLocalStack({
    assembly: workspace.assembly,
    port: settings.port,
    awsPort: settings.awsPort,
    secret,
    inspect: inspectors,
    publicHosts,
    onForeign: () =>
      onProblem(
        'Requests to a host other than localhost, or through a proxy, were answered 421. To allow a tunnel, use --public-host',
      ),
    onStep: step,
    onLog: (line) => {
      const text = format.logLine(line);
      if (text !== undefined) console.log(text);
      feed.onLog(line);
    },
    observer: {
      onExchange(exchange) {
        requests += 1;
        console.log(format.request(exchange));
        feed.onExchange(exchange);
      },
      onItemChange: (change) => feed.onItemChange(change),
      onNotification: (notification) => feed.onNotification(notification),
    },
    onProblem,
  });
  let next: readonly string[] | undefined;
  try {
    feed.attach(stack);
    await using page = await startLocalConsole(feed, {
      stack,
      secret,
      port: settings.consolePort,
      commands: settings.commands,
    });
    const { url, token } = page;
    const isSecond = await workspace.publish(stack, { url, token });
    console.log(welcome(settings, stack, page.url, performance.now() - started));
    for (const one of inspected) console.log(inspectText(one));
    if (isSecond) console.log(IS_SECOND);
    next = await untilEnd(settings, { stack, page, workspace, sources });
  } finally {
    await stack.close();
  }
  if (next === undefined) {
    const peakMegabytes = Math.round(process.resourceUsage().maxRSS / 1024);
    console.log(
      `Stopped: ${requests.toLocaleString('en')} requests served, ${peakMegabytes} MB of memory at most`,
    );
  }
  return next;
}

const IS_SECOND = 'Another stack of this folder runs, too. The other commands talk to this one now.\n';

interface RunningParts {
  readonly stack: LocalStack;
  readonly page: LocalConsole;
  readonly workspace: Workspace;
  /** Undefined with `--no-watch`. */
  readonly sources: SourceWatch | undefined;
}

/**
 * Applies saved sources to the running stack.
 * @returns options of the next stack, or undefined after Ctrl-C
 */
async function untilEnd(
  { inspect: inspected = [] }: StackRun,
  { stack, page, workspace, sources }: RunningParts,
): Promise<readonly string[] | undefined> {
  const interrupted = interruption();
  const ended = Promise.withResolvers<'restart' | undefined>();
  interrupted.addEventListener('abort', () => ended.resolve(undefined));
  let isReading = false;
  const readAnswer = async () => {
    if (isReading) return;
    isReading = true;
    if (await restartTyped(interrupted)) ended.resolve('restart');
  };
  // Loaded after the stack is ready, so that the start does not wait for esbuild.
  const { SavedCode } = await import('./saved-code.ts');
  const code =
    sources &&
    new SavedCode({
      stack,
      workspace,
      readable: new Set(inspected.map(({ service }) => service)),
      onNotice(notice: Notice) {
        console.log(notice.text);
        page.updates.notice(notice);
      },
      onRestartNeeded: readAnswer,
    });
  sources?.follow((files) => code?.apply(files));
  const end = await ended.promise;
  await code?.close();
  if (end === undefined) {
    console.log('Stopping …');
    return undefined;
  }
  console.log('Restarting the stack, empty …');
  const portOf = (url = '') => new URL(url).port;
  return [
    ...['--port', portOf(stack.outputs.WebhookUrl), '--aws-port', portOf(stack.operator.endpoint)],
    ...['--console-port', portOf(page.url)],
  ];
}

async function synthesiseTo(
  folder: string,
  { gateway, retryFast = false, inspect: inspected = [] }: StackRun,
): Promise<void> {
  const overrides = gateway === undefined ? {} : stageOverrides({ gateway });
  await writeAssembly(folder, overrides, { cache: SYNTHESISED_FOLDER, synthesise });
  await adjustAssembly(folder, { retryFast, inspected: new Set(inspected.map(({ service }) => service)) });
}

/** @param milliseconds that the start took */
function welcome(
  { secret, publicHost: publicHosts = [], retryFast }: StackRun,
  { outputs, operator }: LocalStack,
  consoleUrl: string,
  milliseconds: number,
): string {
  const tunnels = publicHosts
    .map((host) => `            also, for anyone with the secret, https://${host}${WEBHOOK_PATH}\n`)
    .join('');
  return `
Ready in ${(milliseconds / 1000).toFixed(1)} s. Ctrl-C stops it and deletes its state.

  Console   ${consoleUrl}
  Webhook   ${outputs.WebhookUrl}
${tunnels}  Secret    ${secret}
  AWS       ${operator.endpoint} (region ${operator.region}, any access key)
  Outputs   ${OUTPUTS_FILE}

Send a signed event from another terminal:

  npx hookctl send shop.updated
${retryFast ? RETRIES_ARE_FAST : ''}`;
}

const RETRIES_ARE_FAST = `
Retries are fast: ten attempts take about ten seconds, and a message whose function crashes returns after 5 s.
`;
