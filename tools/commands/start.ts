import { readFileSync } from 'node:fs';
import { Option } from '@commander-js/extra-typings';
import { endWithNpm } from '../start/end-with-npm.ts';
import { inspectedFunction, withPorts } from '../start/inspected-functions.ts';
import { assertPorts, type WantedPort } from '../start/ports.ts';
import { assertOwnSecret, publicHost } from '../start/public-host.ts';
import { runStack, type StartSettings } from '../start/run-stack.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { gatewayOption, jsonOption, port, secretOption } from '../terminal/options.ts';

export const command = hookctlCommand(
  'start',
  'Runs the local stack and its console until Ctrl-C. Then all state is lost.',
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
  .option('--retry-fast', 'retry after seconds: a message becomes a dead letter after about 10 s, not 3 h')
  .option(
    '--inspect <function[:port]>',
    'open a debugger port, from 9229 on, for receiver or the consumer of an event',
    inspectedFunction,
  )
  .addOption(jsonOption())
  .option('--no-watch', 'ignore code that you save while it runs')
  .action(start);

async function start(settings: StartSettings): Promise<void> {
  const { secret, inspect = [], publicHost: publicHosts = [] } = settings;
  assertOwnSecret(publicHosts, secret);
  const inspected = withPorts(inspect, Object.values(portsOf(settings)));
  const ports = wantedPorts(settings, inspected);
  assertOpenFiles();
  await assertPorts(ports);
  await endWithNpm();
  const { pageCommands } = await import('./page-commands.ts');
  const options = await runStack({ ...settings, commands: pageCommands, inspected, ports });
  if (options === undefined) return;
  const { runNextStacks } = await import('../start/next-stack.ts');
  process.exitCode = await runNextStacks(options);
}

/** Files and connections that a busy stack opens: 180, on 2026-11-28. The default limit of Linux is 1,024. */
const MIN_OPEN_FILES = 256;

/** @throws CommandError if this process may open too few files. With fewer, functions fail one after the other */
function assertOpenFiles(): void {
  if (process.platform !== 'linux') return;
  const [, limit = ''] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  if (limit !== '' && Number(limit) < MIN_OPEN_FILES)
    throw new CommandError(`Only ${limit} open files are allowed. Raise the limit: ulimit -n 1024`);
}

/** The ports of the stack, by the names of their options. */
const portsOf = ({ port, awsPort, consolePort, console }: StartSettings) => ({
  port,
  'aws-port': awsPort,
  ...(console && { 'console-port': consolePort }),
});

function wantedPorts(settings: StartSettings, inspected: ReturnType<typeof withPorts>): WantedPort[] {
  return [
    ...Object.entries(portsOf(settings)).map(([option, port]) => ({ option, port })),
    ...inspected.map(({ name, port }) => ({ option: `inspect ${name}:<port>`, port })),
  ];
}
