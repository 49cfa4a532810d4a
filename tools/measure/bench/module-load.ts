import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeBundle } from '../../../lib/release/function-bundles.ts';
import { type Figure, ratios, spread } from './figure.ts';
import { outputOf } from './processes.ts';
import { bundleReceiver, noWarmUp, receiverEnvironment } from './receiver.ts';

/** Starts of each bundle: enough for a stable median on a noisy computer. */
const ROUNDS = 25;

/** A handler that only loads the receiver's packages. */
const BARE = 'tools/measure/bench/bare-receiver.ts';

/** How long the receiver's module takes to load, compared with its packages alone. */
export const moduleLoad: Figure = {
  name: 'module-load',
  title: 'module load ÷ bare bundle of the same SDK clients and middy',
  goal: { atMost: 1.1 },
  async measure({ signal, onProgress }) {
    const folder = mkdtempSync(join(tmpdir(), 'module-load-'));
    try {
      // The warm-up is not part of loading: `first-request` measures it.
      await bundleReceiver(join(folder, 'receiver'), { plugins: [noWarmUp] });
      await writeBundle({ entry: BARE, folder: join(folder, 'bare') }, {});
      const files = { of: join(folder, 'receiver/index.mjs'), to: join(folder, 'bare/index.mjs') };
      const pairs: { of: number; to: number }[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        onProgress(`start ${round} of ${ROUNDS}`);
        pairs.push({ of: await load(files.of, signal), to: await load(files.to, signal) });
      }
      const [of, to] = [spread(pairs.map(({ of }) => of)), spread(pairs.map(({ to }) => to))];
      return { ...ratios(pairs), made: `${of.median.toFixed(1)} ms ÷ ${to.median.toFixed(1)} ms` };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/** Milliseconds that a new process takes to load a bundle, without the start of the process. */
async function load(file: string, signal: AbortSignal): Promise<number> {
  const script = `const t = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - t); process.exit()`;
  return Number(
    await outputOf(['--input-type=module', '-e', script], { env: receiverEnvironment('x'), signal }),
  );
}
