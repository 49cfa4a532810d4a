import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from '@jest/globals';
import { post } from '../../../../tools/measure/bench/local-stack.ts';
import { RunningStack } from '../../../../tools/measure/bench/npm-start.ts';
import { outputOf } from '../../../../tools/measure/bench/processes.ts';
import { eventually } from '../../../support/eventually.ts';

/**
 * The processes that `start` starts at once. A count is not enough, because other processes of this test may end
 * meanwhile.
 */
function startedBy(start: () => unknown) {
  const children: ChildProcess[] = [];
  const add = (message: unknown) => children.push((message as { process: ChildProcess }).process);
  subscribe('child_process', add);
  const started = start();
  unsubscribe('child_process', add);
  return { children, started };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

test.each([
  ['a stack that is not ready yet', (signal: AbortSignal) => RunningStack.start(signal)],
  [
    'a start of a function',
    (signal: AbortSignal) => outputOf(['-e', 'setInterval(() => {}, 1000)'], { env: {}, signal }),
  ],
  ['what posts', (signal: AbortSignal) => post('http://127.0.0.1:1', signal)],
])(
  '%s ends together with the measurement, and leaves no process',
  async (_what, start) => {
    const controller = new AbortController();
    const { children, started } = startedBy(() => start(controller.signal));
    expect(children.map(hasEnded)).toEqual([false]);
    controller.abort(new Error('interrupted'));
    await expect(started).rejects.toThrow('interrupted');
    await eventually(async () => children.every(hasEnded) || undefined, { limit: 5_000 });
  },
  // Below the timeouts after which they would end anyway.
  10_000,
);

test('a sender that ends without a result is reported', async () => {
  // Nothing listens there.
  const posted = post('http://127.0.0.1:1', new AbortController().signal);
  await expect(posted).rejects.toThrow('tools/measure/bench/post-bodies.ts ended with 1');
});

test('a function gets nothing of the environment, and its error tells nothing of the delivery', async () => {
  const script = 'console.log(Object.keys(process.env).join()); process.exit(Number(process.argv[1]))';
  expect(await outputOf(['-e', script, '0'], { env: { ONLY: 'this' } })).toBe('ONLY\n');
  const failed = outputOf(['-e', script, '3', 'a delivery'], { env: {} });
  await expect(failed).rejects.toThrow(/^A start ended with 3$/);
});
