import { spawnSync } from 'node:child_process';
import { type Figure, ratios, spread } from './figure.ts';
import { cleanEnvironment, RunningStack } from './running-stack.ts';

const ROUNDS = 4;

/** How long `npm start` takes where it has run before, until it says that it is ready; without npm itself. */
export const npmStart: Figure = {
  name: 'npm-start',
  title: '`npm start` until ready, after the first time',
  goal: { atMost: 4 },
  unit: 's',
  async measure({ signal, say }) {
    say('the first time');
    await (await RunningStack.start(signal))[Symbol.asyncDispose]();
    const pairs: { of: number; to: number }[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      say(`start ${round} of ${ROUNDS}`);
      const to = secondsOfNode();
      await using stack = await RunningStack.start(signal);
      pairs.push({ of: stack.secondsUntilReady, to });
    }
    const seconds = pairs.map(({ of }) => of);
    const ratio = ratios(pairs).median.toFixed(0);
    return { ...spread(seconds), made: `${ratio} times \`node -e 0\`` };
  },
};

function secondsOfNode(): number {
  const started = performance.now();
  spawnSync(process.execPath, ['-e', '0'], { env: cleanEnvironment() });
  return (performance.now() - started) / 1000;
}
