import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Option } from '@commander-js/extra-typings';
import { listen } from '../../local/listen.ts';
import type { LocalStack } from '../../local/local-stack.ts';
import { stageOverrides, synthesise } from '../../local/template/synthesise.ts';
import { adjustAssembly } from '../operate/adjust-assembly.ts';
import {
  bundleReadably,
  type InspectedFunction,
  inspectedFunction,
  inspectText,
  openInspectors,
  withPorts,
} from '../operate/inspected-functions.ts';
import { KEPT_FOLDER, OUTPUTS_FILE, Workspace } from '../operate/local-folder.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { interruption } from '../terminal/interrupted.ts';
import { asJson, LogFormat } from '../terminal/log-format.ts';
import { type GatewayKind, gatewayOption, jsonOption, port, secretOption } from '../terminal/options.ts';

interface Settings {
  readonly port: number;
  readonly awsPort: number;
  readonly secret: string;
  readonly gateway?: GatewayKind | undefined;
  /** Whether it goes on with what was kept, and keeps what it holds. */
  readonly keep?: true | undefined;
  readonly retryFast?: boolean | undefined;
  readonly inspect?: readonly InspectedFunction[] | undefined;
  /** Functions' log lines as they are, and the rest on standard error. */
  readonly json?: true | undefined;
}

/** `npm start`: synthesises the stack and runs it until Ctrl-C. */
export const command = npmScript(
  'start',
  'Synthesises the stack and runs it on this machine until Ctrl-C. What it holds is in memory, and ends with it, unless it is kept.',
)
  .addOption(
    new Option('--port <port>', 'of the webhook; 0: any free one').env('PORT').argParser(port).default(3000),
  )
  .addOption(
    new Option('--aws-port <port>', 'of the AWS endpoint; 0: any free one')
      .env('AWS_PORT')
      .argParser(port)
      .default(4566),
  )
  .addOption(secretOption())
  .addOption(gatewayOption())
  .option(
    '--keep',
    `goes on with what an earlier run has left in ${KEPT_FOLDER}, and leaves it to the next one`,
  )
  .option('--retry-fast', 'waits seconds between attempts: a dead letter takes some ten, and not three hours')
  .option(
    '--inspect <function[:port]>',
    'lets a debugger into it: receiver, or an event for its consumer; repeatable; port from 9229 on',
    inspectedFunction,
  )
  .addOption(jsonOption())
  .action(start);

async function start({
  port,
  awsPort,
  secret,
  gateway,
  keep,
  retryFast = false,
  inspect = [],
  json,
}: Settings): Promise<void> {
  if (port === awsPort && port !== 0) {
    throw new CommandError(`--port and --aws-port must differ, not both be ${port}`);
  }
  await assertFree(port, 'port');
  await assertFree(awsPort, 'aws-port');
  const inspected = withPorts(inspect);
  for (const { name, port } of inspected) await assertFree(port, `inspect ${name}:<port>`);

  const started = performance.now();
  const say = json ? console.error : console.log;
  const format = new LogFormat(json ? process.stderr : process.stdout);
  const step = (text: string) => say(`${text} …`);
  say(beginning(keep));
  await using workspace = await Workspace.open();
  step('Synthesising the stack');
  const synthesiseTo = async (folder: string) => {
    await synthesise(folder, gateway && stageOverrides({ gateway }));
    await bundleReadably(folder, inspected);
    adjustAssembly(folder, { retryFast, inspected: new Set(inspected.map(({ service }) => service)) });
  };
  // What runs the stack is loaded while another process synthesises it.
  const [{ startLocalStack }] = await Promise.all([
    import('../../local/local-stack.ts'),
    synthesiseTo(workspace.assembly),
  ]);
  const inspectors = await openInspectors(inspected);
  const stack = await startLocalStack({
    assembly: workspace.assembly,
    port,
    awsPort,
    secret,
    keep: keep && KEPT_FOLDER,
    inspect: inspectors,
    onStep: step,
    onNote: say,
    onLog: (line) => print(json ? asJson(line) : format.logLine(line)),
    onRequest: (request) => say(format.request(request)),
    onProblem: (message) => console.error(`Problem: ${message}`),
  });
  try {
    const isSecond = await workspace.publish({
      outputs: { [stack.name]: stack.outputs },
      functions: Object.fromEntries(
        [...stack.functions].map(([service, { definition }]) => [service, definition]),
      ),
    });
    say(welcome(stack, secret, keep, performance.now() - started));
    if (retryFast) say(RETRIES_ARE_FAST);
    for (const one of inspected) {
      const inspector = inspectors.get(one.service);
      if (inspector !== undefined) say(inspectText(one, inspector));
    }
    if (isSecond)
      say('Another stack of this folder runs, too. The other commands talk to this one until it stops.\n');
    await once(interruption(), 'abort');
    say('Stopping …');
  } finally {
    await stack.close();
  }
  const { requests, peakMegabytes } = stack.usage();
  say(`Stopped: ${requests.toLocaleString('en')} requests served, ${peakMegabytes} MB of memory at most`);
}

const RETRIES_ARE_FAST = `Retries are fast: ten attempts take some ten seconds, and a message whose function dies comes back after 5 s.
`;

/** What the stack begins with. */
function beginning(keep: true | undefined): string {
  const isThere = existsSync(KEPT_FOLDER);
  if (keep) return isThere ? `Going on with ${KEPT_FOLDER}` : `Beginning empty, kept in ${KEPT_FOLDER}`;
  return isThere
    ? `Beginning empty: --keep would go on with ${KEPT_FOLDER}`
    : 'Beginning empty: --keep would keep it';
}

function welcome(
  { outputs, awsUrl, operator }: LocalStack,
  secret: string,
  keep: true | undefined,
  milliseconds: number,
): string {
  return `
Ready in ${(milliseconds / 1000).toFixed(1)} s. Ctrl-C stops it, and ${keep ? `leaves what it holds in ${KEPT_FOLDER}` : 'takes away all that it holds'}.

  Webhook   ${outputs.WebhookUrl}
  Secret    ${secret}
  AWS       ${awsUrl} (region ${operator.region}, any access key)
  Outputs   ${OUTPUTS_FILE}

Send a signed event from another terminal:

  npm run send -- shop.updated${secret === secretOption().defaultValue ? '' : ' --secret …'}
`;
}

function print(line: string | undefined): void {
  if (line !== undefined) console.log(line);
}

/** Before the stack is synthesised, so that a port in use is told at once. */
async function assertFree(port: number, option: string): Promise<void> {
  try {
    const { servers } = await listen({}, () => {}, { port });
    for (const server of servers) server.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CommandError(`Port ${port} is in use. Stop what uses it, or choose another with --${option}`);
  }
}
