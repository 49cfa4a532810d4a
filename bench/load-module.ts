import { spawnSync } from 'node:child_process';
import { eventNames } from '../lambda/contract/catalogue.ts';
import { queueUrlVariable } from '../lambda/contract/event-names.ts';

/** The receiver's entry point, from the project's root. */
export const RECEIVER = 'lambda/receiver/handler.ts';

/** Of the receiver, which reads it while it loads. */
const environment = Object.fromEntries(
  [
    ...eventNames.map(queueUrlVariable),
    'QUARANTINE_QUEUE_URL',
    'SECRET_GRACE_SECONDS',
    'UNROUTED_QUEUE_URL',
    'WEBHOOK_SECRET_ARN',
  ].map((name) => [name, 'x']),
);

/**
 * Milliseconds that a fresh process takes to load a bundle, its own start not counted.
 * @param flags of Node.js
 */
export function load(file: string, flags: readonly string[] = []): number {
  const script = `const t = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - t); process.exit()`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '-e', script],
    { env: { ...process.env, ...environment, AWS_REGION: 'us-east-1' }, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}
