import { mkdir, rm, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { listen } from '../../local/listen.ts';
import type { LocalStack } from '../../local/local-stack.ts';
import { synthesise } from '../../local/template/synthesise.ts';
import {
  ASSEMBLY_FOLDER,
  chooseSecret,
  FUNCTIONS_FILE,
  LOCAL_FOLDER,
  OUTPUTS_FILE,
  parsePort,
} from '../operate/settings.ts';
import { CommandError } from '../terminal/command-error.ts';
import { formatLogLine } from '../terminal/log-format.ts';

const DEFAULT_PORT = '3000';
const DEFAULT_AWS_PORT = '4566';

/** `npm start`: synthesises the stack and runs it until Ctrl-C. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { port: { type: 'string' }, 'aws-port': { type: 'string' }, secret: { type: 'string' } },
  });
  const port = parsePort(values.port ?? process.env.PORT ?? DEFAULT_PORT, 'port');
  const awsPort = parsePort(values['aws-port'] ?? process.env.AWS_PORT ?? DEFAULT_AWS_PORT, 'aws-port');
  const secret = chooseSecret(values.secret);
  if (port === awsPort && port !== 0) {
    throw new CommandError(`--port and --aws-port must differ, not both be ${port}`);
  }
  await assertFree(port, 'port');
  await assertFree(awsPort, 'aws-port');

  const started = performance.now();
  const step = (text: string) => console.log(`${text} …`);
  step('Synthesising the stack');
  await mkdir(LOCAL_FOLDER, { recursive: true });
  // What runs the stack is loaded while another process synthesises it.
  const [{ startLocalStack }] = await Promise.all([
    import('../../local/local-stack.ts'),
    synthesise(ASSEMBLY_FOLDER),
  ]);
  const stack = await startLocalStack({
    assembly: ASSEMBLY_FOLDER,
    port,
    awsPort,
    secret,
    onStep: step,
    onLog: (line) => print(formatLogLine(line)),
    onRequest: ({ method, path, status, durationMilliseconds }) =>
      console.log(`${method} ${path} ${status} ${Math.round(durationMilliseconds)} ms`),
    onProblem: (message) => console.error(`Problem: ${message}`),
  });
  await describe(stack);
  console.log(welcome(stack, secret, performance.now() - started));

  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  console.log('Stopping …');
  await stack.close();
  await Promise.all([OUTPUTS_FILE, FUNCTIONS_FILE].map((file) => rm(file, { force: true })));
}

/** Leaves what the other commands need to find the stack. */
async function describe({ name, outputs, functions }: LocalStack): Promise<void> {
  const definitions = Object.fromEntries(
    [...functions].map(([service, { definition }]) => [service, definition]),
  );
  await writeFile(OUTPUTS_FILE, `${JSON.stringify({ [name]: outputs }, undefined, 2)}\n`);
  await writeFile(FUNCTIONS_FILE, `${JSON.stringify(definitions, undefined, 2)}\n`);
}

function welcome({ outputs, awsUrl, operator }: LocalStack, secret: string, milliseconds: number): string {
  return `
Ready in ${(milliseconds / 1000).toFixed(1)} s. Ctrl-C stops it.

  Webhook   ${outputs.WebhookUrl}
  Secret    ${secret}
  AWS       ${awsUrl} (region ${operator.region}, any access key)
  Outputs   ${OUTPUTS_FILE}

Send a signed event from another terminal:

  npm run send -- shop.updated${secretHint(secret)}
`;
}

function secretHint(secret: string): string {
  return secret === chooseSecret(undefined) ? '' : ' --secret …';
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
