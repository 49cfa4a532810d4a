import { once } from 'node:events';
import { Option } from '@commander-js/extra-typings';
import type { LogLine } from '../../local/functions/invocation.ts';
import { listen } from '../../local/listen.ts';
import type { LocalStack } from '../../local/local-stack.ts';
import { stageOverrides, synthesise } from '../../local/template/synthesise.ts';
import type { Notice } from '../console/api.ts';
import { describeStack, OUTPUTS_FILE, Workspace } from '../operate/local-folder.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { interruption } from '../terminal/interrupted.ts';
import { LogFormat } from '../terminal/log-format.ts';
import { type GatewayKind, gatewayOption, jsonOption, port, secretOption } from '../terminal/options.ts';
import { SourceTree } from '../watch/source-tree.ts';
import type { Watch, WatchOptions } from '../watch/watch.ts';

interface Settings {
  readonly port: number;
  readonly awsPort: number;
  readonly secret: string;
  readonly gateway?: GatewayKind | undefined;
  /** Functions' log lines as they are, and the rest on standard error. */
  readonly json?: true | undefined;
  /** Whether the stack keeps up with what is saved. */
  readonly watch: boolean;
}

/** `npm start`: synthesises the stack and runs it until Ctrl-C. */
export const command = npmScript(
  'start',
  'Synthesises the stack and runs it on this machine until Ctrl-C. What it holds is in memory, and ends with it.',
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
  .addOption(jsonOption())
  .option('--no-watch', 'goes on with the code as it is now, whatever is saved')
  .action(start);

async function start({ port, awsPort, secret, gateway, json, watch }: Settings): Promise<void> {
  if (port === awsPort && port !== 0) {
    throw new CommandError(`--port and --aws-port must differ, not both be ${port}`);
  }
  await assertFree(port, 'port');
  await assertFree(awsPort, 'aws-port');

  const started = performance.now();
  const say = json ? console.error : console.log;
  const format = new LogFormat(json ? process.stderr : process.stdout);
  const step = (text: string) => say(`${text} …`);
  await using workspace = await Workspace.open();
  step('Synthesising the stack');
  const sources = watch ? new SourceTree() : undefined;
  const synthesiseTo = (folder: string) => synthesise(folder, gateway && stageOverrides({ gateway }));
  // What runs the stack is loaded while another process synthesises it.
  const [{ startLocalStack }] = await Promise.all([
    import('../../local/local-stack.ts'),
    synthesiseTo(workspace.assembly),
  ]);
  const stack = await startLocalStack({
    assembly: workspace.assembly,
    port,
    awsPort,
    secret,
    onStep: step,
    onLog: (line) => print(json ? asJson(line) : format.logLine(line)),
    onRequest: (request) => say(format.request(request)),
    onProblem: (message) => console.error(`Problem: ${message}`),
  });
  try {
    const isSecond = await workspace.publish(describeStack(stack));
    say(welcome(stack, secret, performance.now() - started));
    if (isSecond)
      say('Another stack of this folder runs, too. The other commands talk to this one until it stops.\n');
    const interrupted = once(interruption(), 'abort');
    const onNotice = ({ text }: Notice) => say(text);
    await using _watch =
      sources && (await startWatch({ stack, workspace, sources, synthesise: synthesiseTo, onNotice }));
    await interrupted;
    say('Stopping …');
  } finally {
    await stack.close();
  }
  const { requests, peakMegabytes } = stack.usage();
  say(`Stopped: ${requests.toLocaleString('en')} requests served, ${peakMegabytes} MB of memory at most`);
}

/** Loaded when the stack is up, so that it is not for this that anybody waits. */
async function startWatch(options: WatchOptions): Promise<Watch> {
  const { Watch } = await import('../watch/watch.ts');
  return new Watch(options);
}

function welcome({ outputs, awsUrl, operator }: LocalStack, secret: string, milliseconds: number): string {
  return `
Ready in ${(milliseconds / 1000).toFixed(1)} s. Ctrl-C stops it, and takes away all that it holds.

  Webhook   ${outputs.WebhookUrl}
  Secret    ${secret}
  AWS       ${awsUrl} (region ${operator.region}, any access key)
  Outputs   ${OUTPUTS_FILE}

Send a signed event from another terminal:

  npm run send -- shop.updated${secret === secretOption().defaultValue ? '' : ' --secret …'}
`;
}

/** Of a line that is no JSON, such as what the runtime writes, its text. */
const asJson = ({ functionName, text }: LogLine) =>
  text.startsWith('{') ? text : JSON.stringify({ functionName, text });

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
