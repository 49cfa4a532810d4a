import { once } from 'node:events';
import type { LocalStack } from 'local-aws';
import { InspectorPort } from 'local-aws/inspector-port';
import { stageOverrides, synthesise } from '../../bin/synthesise.ts';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import type { Notice } from '../console/api.ts';
import type { PageCommands } from '../console/server/console-context.ts';
import { OUTPUTS_FILE, SYNTHESISED_FOLDER, Workspace } from '../stage/local-folder.ts';
import type { GatewayKind } from '../terminal/options.ts';
import { interruption } from '../terminal/terminal.ts';
import { type InspectedFunction, inspectText } from './inspected-functions.ts';
import { adjustAssembly, writeAssembly } from './local-assembly.ts';
import { LogFormat } from './log-format.ts';
import type { SavedCodeOptions } from './saved-code.ts';
import { SourceWatch } from './source-watch.ts';
import { restartTyped } from './stack-process.ts';

/** Values of the options of `npm start`. */
interface StackRun {
  readonly port: number;
  readonly awsPort: number;
  readonly consolePort: number;
  readonly secret: string;
  /** @default the setting of the stage */
  readonly gateway?: GatewayKind | undefined;
  /** Host names of tunnels to the webhook. */
  readonly publicHosts: readonly string[];
  readonly retryFast: boolean;
  readonly inspected: readonly InspectedFunction[];
  /** Whether saved sources take effect while the stack runs. */
  readonly watch: boolean;
  /** Commands that the console runs for its page. */
  readonly commands: PageCommands;
}

/**
 * Runs the stack until Ctrl-C, or until the user wants a restart.
 * @returns options by which the next stack gets the same ports; undefined after Ctrl-C
 */
export async function runStack(settings: StackRun): Promise<readonly string[] | undefined> {
  const { secret, inspected, publicHosts } = settings;
  const started = performance.now();
  const format = new LogFormat();
  await using workspace = await Workspace.open();
  const step = (text: string) => console.log(`${text} …`);
  step('Synthesising the stack');
  const onProblem = (message: string) => console.error(`Problem: ${message}`);
  // Opened before the synthesis, so that a file that is saved meanwhile counts as changed.
  await using sources = settings.watch ? await SourceWatch.open(onProblem) : undefined;
  const readable = new Set(inspected.map(({ service }) => service));
  // These modules load while another process synthesises the stack.
  const [{ startLocalStack }, { LocalFeed }, { startLocalConsole }] = await Promise.all([
    import('local-aws'),
    import('../stage/history/local-feed.ts'),
    import('../console/server/start-console.ts'),
    synthesiseTo(workspace.assembly, settings, readable),
  ]);
  using feed = new LocalFeed();
  const inspectors = new Map<string, InspectorPort>();
  for (const { service, port } of inspected) inspectors.set(service, await InspectorPort.open(port));
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
        console.log(format.request(exchange));
        feed.onExchange(exchange);
      },
      onItemChange: (change) => feed.onItemChange(change),
      onNotification: (notification) => feed.onNotification(notification),
    },
    onProblem,
  });
  try {
    feed.attach(stack);
    const { consolePort: port, commands } = settings;
    await using page = await startLocalConsole(feed, { stack, secret, port, commands });
    const { url, token } = page;
    const isSecond = await workspace.publish(stack, { url, token });
    console.log(welcome(settings, stack, url, performance.now() - started));
    for (const one of inspected) console.log(inspectText(one));
    if (isSecond) console.log(IS_SECOND);
    const onNotice = (notice: Notice) => {
      console.log(notice.text);
      page.updates.notice(notice);
    };
    if (!(await restartWanted(sources, { stack, workspace, readable, onNotice }))) return undefined;
    const addresses = {
      '--port': stack.outputs.WebhookUrl ?? '',
      '--aws-port': stack.operator.endpoint,
      '--console-port': url,
    };
    const next = Object.entries(addresses).flatMap(([option, address]) => [option, new URL(address).port]);
    return next;
  } finally {
    await stack.close();
  }
}

const IS_SECOND = 'Another stack of this folder runs, too. The other commands talk to this one now.\n';

/**
 * Applies saved sources to the running stack, until Ctrl-C or until the user wants a restart.
 * @param sources undefined with `--no-watch`
 */
async function restartWanted(
  sources: SourceWatch | undefined,
  options: Omit<SavedCodeOptions, 'onRestartNeeded'>,
): Promise<boolean> {
  const interrupted = interruption();
  const stopped = once(interrupted, 'abort').then(() => false);
  const needed = Promise.withResolvers<void>();
  // Loaded after the stack is ready, so that the start does not wait for esbuild.
  const { SavedCode } = await import('./saved-code.ts');
  const code = new SavedCode({ ...options, onRestartNeeded: needed.resolve });
  sources?.follow((files) => code.apply(files));
  const typed = needed.promise.then(() => restartTyped(interrupted));
  // Standard input may end without an answer.
  const isWanted = await Promise.race([stopped, typed.then((isRestart) => isRestart || stopped)]);
  await code.close();
  console.log(isWanted ? 'Restarting the stack, empty …' : 'Stopping …');
  return isWanted;
}

async function synthesiseTo(
  folder: string,
  { gateway, retryFast }: StackRun,
  inspected: ReadonlySet<string>,
): Promise<void> {
  const overrides = gateway === undefined ? {} : stageOverrides({ gateway });
  await writeAssembly(folder, overrides, { cache: SYNTHESISED_FOLDER, synthesise });
  await adjustAssembly(folder, { retryFast, inspected });
}

/** @param milliseconds that the start took */
function welcome(
  { secret, publicHosts, retryFast }: StackRun,
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
