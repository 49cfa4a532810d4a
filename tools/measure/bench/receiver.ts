import type { BuildOptions, Plugin } from 'esbuild';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { queueUrlVariable } from '../../../lambda/events/event-names.ts';
import { writeBundle } from '../../../lib/release/function-bundles.ts';

const RECEIVER = 'lambda/receiver/handler.ts';

/** esbuild plugin that replaces the receiver's warm-up: nothing happens before the first request. */
export const noWarmUp: Plugin = {
  name: 'no-warm-up',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/lambda\/receiver\/warm-up\.ts$/ }, () => ({
      contents: 'export async function warmUp() {}',
    }));
  },
};

/** Bundles the receiver as for a deployment, but without source maps. */
export async function bundleReceiver(outdir: string, options: BuildOptions = {}): Promise<void> {
  await writeBundle({ entry: RECEIVER, folder: outdir }, options);
}

/** The receiver's environment, with the names that the stack sets. @param queueUrl URL of all its queues */
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
  SECRET_GRACE_SECONDS: '86400',
  POWERTOOLS_SERVICE_NAME: 'receiver',
  POWERTOOLS_METRICS_NAMESPACE: 'bench',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'key',
  AWS_SESSION_TOKEN: 'token',
});
