import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Plugin } from 'esbuild';
import { readSamples, sampleBody } from '../../events/samples.ts';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { queueUrlVariable } from '../../lambda/events/event-names.ts';
import { writeBundles } from '../../lib/release/function-bundles.ts';
import { receiverEvent } from '../stage/signed-post.ts';

const RECEIVER = 'lambda/receiver/handler.ts';
const BARE = 'tools/bench/bare-receiver.ts';

export const BENCH_SECRET = 'secret-of-the-bench';

/** Timeout of a process in milliseconds: many times the usual duration. */
const PROCESS_LIMIT = 120_000;

/**
 * Makes three bundles without source maps: the receiver as it is deployed, the receiver without its warm-up, and the
 * bare receiver.
 * @returns the file of each
 * @throws Error if the receiver has no warm-up that could be left out
 */
export async function bundleReceivers(folder: string) {
  let isReplaced = false;
  const noWarmUp: Plugin = {
    name: 'no-warm-up',
    setup: ({ onLoad }) => {
      onLoad({ filter: /\/lambda\/receiver\/warm-up\.ts$/ }, () => {
        isReplaced = true;
        return { contents: 'export async function warmUp() {}' };
      });
    },
  };
  const bundle = async (name: string, entry: string, plugins: Plugin[] = []) => {
    await writeBundles([{ entry, folder: join(folder, name) }], { plugins });
    return join(folder, name, 'index.mjs');
  };
  const bundles = {
    receiver: await bundle('receiver', RECEIVER),
    withoutWarmUp: await bundle('without-warm-up', RECEIVER, [noWarmUp]),
    bare: await bundle('bare', BARE),
  };
  if (!isReplaced) throw new Error('The receiver no longer imports lambda/receiver/warm-up.ts');
  return bundles;
}

/**
 * The receiver's environment, with the names that the stack sets.
 * @param queueUrl URL of all its queues
 */
export const receiverEnvironment = (queueUrl: string): Record<string, string> => ({
  ...Object.fromEntries(
    [
      ...eventNames.map(queueUrlVariable),
      'QUARANTINE_QUEUE_URL',
      'UNROUTED_QUEUE_URL',
      'SMOKE_TEST_QUEUE_URL',
    ].map((name) => [name, queueUrl]),
  ),
  WEBHOOK_SECRET_ARN: 'secret',
  POWERTOOLS_SERVICE_NAME: 'receiver',
  POWERTOOLS_METRICS_NAMESPACE: 'bench',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'key',
  AWS_SESSION_TOKEN: 'token',
});

/** The event of the figures in README.md. It is new, because the receiver also logs old ones. */
const [body = ''] = readSamples()
  .filter(({ event }) => event === 'user.updated')
  .map((sample) => Buffer.from(sampleBody(sample, new Date())).toString());

/** A valid delivery as an HTTP API passes it to a function, in JSON. */
export const DELIVERY = JSON.stringify(receiverEvent(body, BENCH_SECRET, new Date()));

/**
 * Runs JavaScript in a process of its own, so that nothing else is measured. What the measured code logs is dropped: the
 * process that reads a pipe would be this one, which also answers as AWS.
 * @param env the whole environment: `NODE_OPTIONS` or `NODE_COMPILE_CACHE` of this process would distort the result
 * @returns the last line that the script writes to standard error, parsed as JSON
 * @throws Error if the script fails or times out
 */
export async function runScript(
  script: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<unknown> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, ...words], {
    env,
    timeout: PROCESS_LIMIT,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const written = text(child.stderr);
  const [code] = await once(child, 'close');
  if (code === 0) return JSON.parse((await written).trimEnd().split('\n').at(-1) ?? '');
  const why = child.killed ? `took more than ${PROCESS_LIMIT / 1000} s` : `ended with ${code}`;
  throw new Error((await written) || `A measured process ${why}`);
}
