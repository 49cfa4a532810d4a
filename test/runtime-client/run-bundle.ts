import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { arnOf } from 'local-aws/endpoint';
import { environmentVariables, type FunctionDefinition } from 'local-aws/functions';
import { RuntimeApi } from './runtime-api.ts';

/** Timeout for all invocations of a function, in milliseconds. They usually take about 2 s. */
const LIMIT = 60_000;

export type Invoke = (event: unknown) => Promise<unknown>;

/**
 * Runs a function's bundle in its own process, as Lambda does: with AWS's runtime interface client.
 * @param client folder of its package
 * @param work receives a function that invokes the handler
 * @throws Error if the process ends, the code does not load, the handler fails or nothing answers
 */
export async function runBundle(
  client: string,
  definition: FunctionDefinition,
  work: (invoke: Invoke) => Promise<void>,
): Promise<void> {
  const api = new RuntimeApi(arnOf('lambda', `function:${definition.name}`));
  const log = { groupName: `/aws/lambda/${definition.name}`, streamName: 'runtime-client' };
  const compiled = existsSync(join(client, 'rapid-client.node'));
  const withoutAddon = fileURLToPath(new URL('without-addon.ts', import.meta.url));
  const runtime = spawn(
    process.execPath,
    [...(compiled ? [] : ['--import', withoutAddon]), join(client, 'index.mjs')],
    {
      cwd: definition.codeDirectory,
      env: {
        ...environmentVariables(definition, log),
        AWS_LAMBDA_RUNTIME_API: await api.start(),
        // Makes the client wait for invocations with its JavaScript code. The addon uses C++.
        ...(!compiled && { AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true' }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [runtime.stdout, runtime.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  runtime.once('close', (code) => api.fail(new Error(`The runtime ended (${code}):\n${output}`)));
  const timer = setTimeout(() => api.fail(new Error(`No answer within ${LIMIT} ms:\n${output}`)), LIMIT);
  try {
    await work((event) => api.invoke(event));
  } finally {
    clearTimeout(timer);
    runtime.kill('SIGKILL');
    api.stop();
  }
}
