import { once } from 'node:events';
import { join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { checkKeptState } from '../../../local/aws/kept-state.ts';
import { stageOverrides, synthesise } from '../../../local/template/synthesise.ts';
import type { Notice } from '../../console/api.ts';
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
import { assertOwnSecret, besideFolder, publicHost } from '../../dev/start/options.ts';
import { assertPorts, type WantedPort, withPortErrors } from '../../dev/start/ports.ts';
import { beginning, runBeside, welcome } from '../../dev/start/welcome.ts';
import { SourceTree } from '../../dev/watch/source-tree.ts';
import { describeStack, KEPT_FOLDER, SYNTHESISED_FOLDER, Workspace } from '../../stage/local-folder.ts';
import { npmScript } from '../terminal/command.ts';
import { asJson, LogFormat } from '../terminal/log-format.ts';
import { type GatewayKind, gatewayOption, jsonOption, port, secretOption } from '../terminal/options.ts';
import { interruption, LineWriter } from '../terminal/terminal.ts';

interface Settings {
  readonly port: number;
  readonly awsPort: number;
  readonly consolePort: number;
  /** False without the console. */
  readonly console: boolean;
  readonly secret: string;
  readonly gateway?: GatewayKind | undefined;
  /** Host names of tunnels to the webhook. */
  readonly publicHost?: readonly string[] | undefined;
  /** Folders of other people's stacks. */
  readonly beside?: readonly string[] | undefined;
  /** Whether the state is stored, and an earlier run's is continued. */
  readonly keep?: true | undefined;
  readonly retryFast?: boolean | undefined;
  readonly inspect?: readonly InspectedFunction[] | undefined;
  /** Functions' log lines as they are, and the rest on standard error. */
  readonly json?: true | undefined;
  /** Whether saved sources update the stack. */
  readonly watch: boolean;
}

export const command = npmScript(
  'start',
  'Runs the stack and the console on this machine until Ctrl-C. State is lost then, unless --keep stores it.',
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
    '--beside <folder>',
    'also run the stack that cdk synth wrote into this folder; repeatable',
    besideFolder,
  )
  .option(
    '--keep',
    `store the state in ${KEPT_FOLDER} and continue with it; a crash may lose the last second`,
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
  .option('--no-watch', 'do not update the stack when you save code')
  .action(start);

async function start(settings: Settings): Promise<void> {
  const {
    port,
    awsPort,
    consolePort,
    secret,
    gateway,
    keep = false,
    retryFast = false,
    inspect = [],
    publicHost: publicHosts = [],
    beside = [],
    json,
  } = settings;
  assertOwnSecret(publicHosts, secret);
  const inspected = withPorts(inspect, Object.values(portsOf(settings)));
  const ports = wantedPorts(settings, inspected);
  await assertPorts(ports);
  // Before the check, which creates the folder.
  const begin = beginning(keep);
  if (keep) checkKeptState(KEPT_FOLDER);

  const started = performance.now();
  const lines = new LineWriter();
  const print = json ? console.error : lines.write;
  const format = new LogFormat(json ? process.stderr : process.stdout);
  const step = (text: string) => print(`${text} …`);
  print(begin);
  await using workspace = await Workspace.open();
  step('Synthesising the stack');
  const onProblem = (message: string) => console.error(`Problem: ${message}`);
  const sources = settings.watch ? new SourceTree(onProblem) : undefined;
  const services = new Set(inspected.map(({ service }) => service));
  const assemblies = new KeptAssemblies({ folder: SYNTHESISED_FOLDER, synthesise });
  const synthesiseTo = async (folder: string) => {
    await assemblies.write(folder, gateway && stageOverrides({ gateway }));
    await bundleReadably(folder, inspected);
    adjustAssembly(folder, { retryFast, inspected: services });
  };
  // These modules are loaded while another process synthesises the stack.
  const [{ startLocalStack }, { LocalFeed }, { startLocalConsole }, { pageCommands }] = await Promise.all([
    import('../../../local/local-stack.ts'),
    import('../../stage/history/local-feed.ts'),
    import('../../console/local-console.ts'),
    import('./page-commands.ts'),
    synthesiseTo(workspace.assembly),
  ]);
  const history = keep ? join(KEPT_FOLDER, 'history.db') : undefined;
  using feed = settings.console ? new LocalFeed(history) : undefined;
  let consoleUrl: string | undefined;
  const inspectors = await withPortErrors(ports, () => openInspectors(inspected));
  const stack = await withPortErrors(ports, () =>
    startLocalStack({
      assembly: workspace.assembly,
      port,
      awsPort,
      secret,
      keep: keep ? KEPT_FOLDER : undefined,
      inspect: inspectors,
      publicHosts,
      onStep: step,
      onNote: print,
      onLog: (line) => {
        const text = json ? asJson(line) : format.logLine(line);
        if (text !== undefined) lines.write(text);
        feed?.onLog(line);
      },
      ...(feed && { observer: feed }),
      consoleUrl: () => consoleUrl,
      onRequest: (request) => print(format.request(request)),
      onProblem,
    }),
  );
  try {
    feed?.attach(stack);
    await using page =
      feed &&
      (await withPortErrors(ports, () =>
        startLocalConsole(feed, { stack, secret, port: consolePort, commands: pageCommands }),
      ));
    consoleUrl = page?.url;
    const isSecond = await workspace.publish({
      ...describeStack(stack),
      ...(page && { console: { url: page.url, token: page.token } }),
    });
    const milliseconds = performance.now() - started;
    const besideTexts = await runBeside(stack, beside, json ? print : lines.write);
    print(welcome(stack, { consoleUrl, publicHosts, secret, keep, retryFast, milliseconds }));
    for (const text of besideTexts) print(text);
    for (const one of inspected) {
      const inspector = inspectors.get(one.service);
      if (inspector !== undefined) print(inspectText(one, inspector));
    }
    if (isSecond)
      print('Another stack of this folder runs, too. The other commands talk to this one until it stops.\n');
    const interrupted = once(interruption(), 'abort');
    const onNotice = (notice: Notice) => {
      print(notice.text);
      page?.news.notice(notice);
    };
    // Loaded after the stack is ready, so that the start does not wait for it.
    const { Watch } = await import('../../dev/watch/watch.ts');
    await using _watch =
      sources &&
      new Watch({ stack, workspace, sources, readable: services, synthesise: synthesiseTo, onNotice });
    await interrupted;
    print('Stopping …');
  } finally {
    await stack.close();
  }
  const { requests, peakMegabytes } = stack.usage();
  print(`Stopped: ${requests.toLocaleString('en')} requests served, ${peakMegabytes} MB of memory at most`);
}

/** By the options that name them. */
const portsOf = ({ port, awsPort, consolePort, console }: Settings) => ({
  port,
  'aws-port': awsPort,
  ...(console && { 'console-port': consolePort }),
});

function wantedPorts(settings: Settings, inspected: ReturnType<typeof withPorts>): WantedPort[] {
  return [
    ...Object.entries(portsOf(settings)).map(([option, port]) => ({ option, port })),
    ...inspected.map(({ name, port }) => ({ option: `inspect ${name}:<port>`, port })),
  ];
}
