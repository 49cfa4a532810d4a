import { once } from 'node:events';
import { Option } from '@commander-js/extra-typings';
import type { LocalStack } from '../../../local/local-stack.ts';
import { stageOverrides, synthesise } from '../../../local/template/synthesise.ts';
import type { Notice } from '../../console/api.ts';
import type { LocalConsole } from '../../console/local-console.ts';
import { adjustAssembly } from '../../dev/start/adjust-assembly.ts';
import {
  bundleReadably,
  type InspectedFunction,
  inspectedFunction,
  inspectText,
  openInspectors,
  withPorts,
} from '../../dev/start/inspected-functions.ts';
import { KeptAssemblies } from '../../dev/start/kept-assembly.ts';
import { assertOwnSecret, publicHost } from '../../dev/start/options.ts';
import { assertPorts, type WantedPort, withPortErrors } from '../../dev/start/ports.ts';
import { type Restart, restartOf, restartProcess } from '../../dev/start/restart.ts';
import { welcome } from '../../dev/start/welcome.ts';
import { changedText, restartedText } from '../../dev/watch/notice-text.ts';
import { SourceTree } from '../../dev/watch/source-tree.ts';
import { describeStack, SYNTHESISED_FOLDER, Workspace } from '../../stage/local-folder.ts';
import { npmScript } from '../terminal/command.ts';
import { asJson, LogFormat } from '../terminal/log-format.ts';
import { type GatewayKind, gatewayOption, jsonOption, port, secretOption } from '../terminal/options.ts';
import { interruption, LineWriter } from '../terminal/terminal.ts';

interface StartSettings {
  readonly port: number;
  readonly awsPort: number;
  readonly consolePort: number;
  /** False without the console. */
  readonly console: boolean;
  readonly secret: string;
  readonly gateway?: GatewayKind | undefined;
  /** Host names of tunnels to the webhook. */
  readonly publicHost?: readonly string[] | undefined;
  readonly retryFast?: boolean | undefined;
  readonly inspect?: readonly InspectedFunction[] | undefined;
  /** Functions' log lines as they are, and the rest on standard error. */
  readonly json?: true | undefined;
  /** Whether saved sources take effect. */
  readonly watch: boolean;
}

export const command = npmScript(
  'start',
  'Runs the stack and the console on this machine until Ctrl-C. State is in memory, and is lost then.',
)
  .addOption(
    new Option('--port <port>', 'port of the webhook; 0 picks a free one')
      .env('PORT')
      .argParser(port)
      .default(3000),
  )
  .addOption(
    new Option('--aws-port <port>', 'port of the AWS endpoint; 0 picks a free one')
      .env('AWS_PORT')
      .argParser(port)
      .default(4566),
  )
  .addOption(
    new Option('--console-port <port>', 'port of the console; 0 picks a free one')
      .env('CONSOLE_PORT')
      .argParser(port)
      .default(3001),
  )
  .option('--no-console', 'do not run the console')
  .addOption(secretOption())
  .addOption(gatewayOption())
  .option(
    '--public-host <name>',
    'let a tunnel with this host name reach the webhook; needs your own --secret; repeatable',
    publicHost,
  )
  .option(
    '--retry-fast',
    'wait seconds between attempts: a message becomes a dead letter after about 10 s, not 3 h',
  )
  .option(
    '--inspect <function[:port]>',
    'open a debugger port, from 9229 on, in receiver or in the consumer of an event',
    inspectedFunction,
  )
  .addOption(jsonOption())
  .option('--no-watch', 'do not use code that you save while it runs')
  .action(start);

async function start(settings: StartSettings): Promise<void> {
  const { secret, inspect = [], publicHost: publicHosts = [] } = settings;
  assertOwnSecret(publicHosts, secret);
  const inspected = withPorts(inspect, Object.values(portsOf(settings)));
  const ports = wantedPorts(settings, inspected);
  await assertPorts(ports);
  const output = outputOf(settings);
  const next = await run({ ...settings, inspected, ports, output, earlier: restartOf(process) });
  output.flush();
  if (next?.interrupted.aborted === false) restartProcess(next.restart, next.options);
}

type Inspected = ReturnType<typeof withPorts>;

interface StackRun extends StartSettings {
  readonly inspected: Inspected;
  readonly ports: readonly WantedPort[];
  readonly output: ReturnType<typeof outputOf>;
  /** Undefined unless this stack follows another one. */
  readonly earlier: Restart | undefined;
}

interface Next {
  readonly restart: Restart;
  /** Options that give the next stack the ports of this one. */
  readonly options: readonly string[];
  /** Aborted by Ctrl-C, also while this stack stops. */
  readonly interrupted: AbortSignal;
}

/** Log lines go to standard output, and with `--json` the rest to standard error. */
function outputOf({ json }: StartSettings) {
  const lines = new LineWriter();
  const format = new LogFormat(json ? process.stderr : process.stdout);
  return {
    line: lines.write,
    print: json ? console.error : lines.write,
    flush: () => lines.flush(),
    formatLine: (line: Parameters<typeof asJson>[0]) => (json ? asJson(line) : format.logLine(line)),
    formatRequest: format.request.bind(format),
  };
}

/** Runs the stack until Ctrl-C. @returns how to restart it, unless it was stopped */
async function run(settings: StackRun): Promise<Next | undefined> {
  const { secret, inspected, ports, output, earlier, publicHost: publicHosts = [] } = settings;
  const started = performance.now();
  await using workspace = await Workspace.open();
  const step = (text: string) => (earlier === undefined ? output.print(`${text} …`) : undefined);
  step('Synthesising the stack');
  const onProblem = (message: string) => console.error(`Problem: ${message}`);
  const sources = settings.watch ? new SourceTree(onProblem) : undefined;
  const synthesiseTo = synthesiser(settings);
  // These modules are loaded while another process synthesises the stack.
  const [{ startLocalStack }, { LocalFeed }, { startLocalConsole }] = await Promise.all([
    import('../../../local/local-stack.ts'),
    import('../../stage/history/local-feed.ts'),
    import('../../console/local-console.ts'),
    synthesiseTo(workspace.assembly),
  ]);
  using feed = settings.console ? new LocalFeed() : undefined;
  let consoleUrl: string | undefined;
  const inspectors = await withPortErrors(ports, () => openInspectors(inspected));
  const stack = await withPortErrors(ports, () =>
    startLocalStack({
      assembly: workspace.assembly,
      port: settings.port,
      awsPort: settings.awsPort,
      secret,
      inspect: inspectors,
      publicHosts,
      onStep: step,
      onLog: (line) => {
        const text = output.formatLine(line);
        if (text !== undefined) output.line(text);
        feed?.onLog(line);
      },
      ...(feed && { observer: feed }),
      consoleUrl: () => consoleUrl,
      onRequest: (request) => output.print(output.formatRequest(request)),
      onProblem,
    }),
  );
  let next: Next | undefined;
  try {
    feed?.attach(stack);
    await using page =
      feed &&
      (await withPortErrors(ports, () =>
        startLocalConsole(feed, { stack, secret, port: settings.consolePort }),
      ));
    consoleUrl = page?.url;
    const isSecond = await workspace.publish({
      ...describeStack(stack),
      ...(page && { console: { url: page.url, token: page.token } }),
    });
    const milliseconds = performance.now() - started;
    if (earlier === undefined) {
      const { retryFast = false } = settings;
      output.print(welcome(stack, { consoleUrl, publicHosts, secret, retryFast, milliseconds }));
      for (const one of inspected) {
        const inspector = inspectors.get(one.service);
        if (inspector !== undefined) output.print(inspectText(one, inspector));
      }
      if (isSecond) output.print(IS_SECOND);
    }
    next = await untilEnd(settings, { stack, page, workspace, sources, synthesiseTo });
  } finally {
    await stack.close();
  }
  if (next !== undefined) return next;
  const { requests, peakMegabytes } = stack.usage();
  output.print(
    `Stopped: ${requests.toLocaleString('en')} requests served, ${peakMegabytes} MB of memory at most`,
  );
  return undefined;
}

const IS_SECOND =
  'Another stack of this folder runs, too. The other commands talk to this one until it stops.\n';

interface RunningParts {
  readonly stack: LocalStack;
  readonly page: LocalConsole | undefined;
  readonly workspace: Workspace;
  /** Undefined if they are not watched. */
  readonly sources: SourceTree | undefined;
  readonly synthesiseTo: (folder: string) => Promise<void>;
}

/** Applies saved sources. @returns after Ctrl-C, or how to restart the stack if a saved source needs that */
async function untilEnd(
  { inspected, output, earlier, secret }: StackRun,
  { stack, page, workspace, sources, synthesiseTo }: RunningParts,
): Promise<Next | undefined> {
  const interrupted = interruption();
  const restarting = Promise.withResolvers<Restart>();
  const onNotice = (notice: Notice) => {
    output.print(notice.text);
    page?.news.notice(notice);
  };
  if (earlier !== undefined) {
    const text = restartedText(earlier.files, Date.now() - earlier.at);
    onNotice({ about: 'stack', level: 'info', text });
  }
  // Loaded after the stack is ready, so that the start does not wait for it.
  const [{ Watch }, { startLocalStack }] = await Promise.all([
    import('../../dev/watch/watch.ts'),
    import('../../../local/local-stack.ts'),
  ]);
  await using _watch =
    sources &&
    new Watch({
      stack,
      workspace,
      sources,
      readable: new Set(inspected.map(({ service }) => service)),
      earlier,
      synthesise: synthesiseTo,
      async restart(assembly, files, mistakes) {
        // A template that cannot be run must not stop the running stack. So it is tried on other ports first.
        const trial = await startLocalStack({ assembly, port: 0, awsPort: 0, secret, warmUp: false });
        await trial.close();
        restarting.resolve({ files, at: Date.now(), ...mistakes });
      },
      onNotice,
    });
  const restart = await Promise.race([restarting.promise, once(interrupted, 'abort').then(() => undefined)]);
  if (restart === undefined) {
    output.print('Stopping …');
    return undefined;
  }
  output.print(`${changedText(restart.files)}. Restarting the stack, empty …`);
  const portOf = (url = '') => new URL(url).port;
  const options = [
    ...['--port', portOf(stack.outputs.WebhookUrl), '--aws-port', portOf(stack.awsUrl)],
    ...(page ? ['--console-port', portOf(page.url)] : []),
  ];
  return { restart, options, interrupted };
}

/** @returns a function that writes an assembly for these settings into a folder */
function synthesiser({ gateway, retryFast = false, inspected }: StackRun): (folder: string) => Promise<void> {
  const assemblies = new KeptAssemblies({ folder: SYNTHESISED_FOLDER, synthesise });
  const services = new Set(inspected.map(({ service }) => service));
  return async (folder) => {
    await assemblies.write(folder, gateway && stageOverrides({ gateway }));
    await bundleReadably(folder, inspected);
    adjustAssembly(folder, { retryFast, inspected: services });
  };
}

/** By the options that name them. */
const portsOf = ({ port, awsPort, consolePort, console }: StartSettings) => ({
  port,
  'aws-port': awsPort,
  ...(console && { 'console-port': consolePort }),
});

function wantedPorts(settings: StartSettings, inspected: Inspected): WantedPort[] {
  return [
    ...Object.entries(portsOf(settings)).map(([option, port]) => ({ option, port })),
    ...inspected.map(({ name, port }) => ({ option: `inspect ${name}:<port>`, port })),
  ];
}
