import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Aws, startAws } from './aws/aws.ts';
import { makeCertificate } from './aws/certificate.ts';
import { delivery } from './delivery.ts';
import { type Figure, ratios, spread } from './figure.ts';
import { outputOf } from './output-of.ts';
import { bundleReceiver, noWarmUp, receiverEnvironment } from './receiver.ts';

/** Starts of each: enough for a median that holds on a noisy machine. */
const ROUNDS = 20;

/** Between the function and AWS, each way, in milliseconds. */
const DELAY = 5;

/** When one start came to what, in milliseconds since the epoch. */
export interface Start {
  readonly spawned: number;
  readonly booted: number;
  readonly loaded: number;
  readonly answered: number;
  /** When each part of the bundle began to be evaluated, where it notes that. */
  readonly evaluated: readonly { readonly part: string; readonly at: number }[];
}

/** What a function's start needs, in a folder of its own. */
export interface StartingPlace extends AsyncDisposable {
  readonly aws: Aws;
  readonly folder: string;
  /** Starts the bundle of a folder in a process of its own, and gives it a request. @throws Error where that is not answered 200 */
  start(bundle: string): Promise<Start>;
}

/** @param signal ends a start that is under way */
export async function startingPlace(signal?: AbortSignal): Promise<StartingPlace> {
  const closing = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'first-request-'));
  closing.defer(() => rmSync(folder, { recursive: true }));
  const aws = closing.use(await startAws({ certificate: await makeCertificate(folder), delay: DELAY }));
  const runtime = join(folder, 'runtime.mjs');
  await build({
    entryPoints: ['tools/measure/bench/runtime.ts'],
    platform: 'node',
    format: 'esm',
    outfile: runtime,
  });
  const env = { ...receiverEnvironment(aws.queueUrl), ...aws.environment };
  return {
    aws,
    folder,
    start: async (bundle) => {
      const request = JSON.stringify(delivery());
      const spawned = performance.timeOrigin + performance.now();
      const stdout = await outputOf([runtime, join(bundle, 'index.mjs'), request], { env, signal });
      const { statusCode, ...start } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
      if (statusCode !== 200) throw new Error(`The first request was answered ${statusCode}: ${stdout}`);
      return { spawned, ...start };
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** What the warm-up is worth: the function reads its secret, and connects to SQS, while it starts. */
export const firstRequest: Figure = {
  name: 'first-request',
  title: 'start of the process to the first 200, over TLS 5 ms away ÷ without its warm-up',
  goal: { atMost: 0.75 },
  async measure({ signal, say }) {
    await using place = await startingPlace(signal);
    const [of, to] = [join(place.folder, 'warm-up'), join(place.folder, 'no-warm-up')];
    await Promise.all([bundleReceiver(of), bundleReceiver(to, { plugins: [noWarmUp] })]);
    const pairs: { of: number; to: number }[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      say(`start ${round} of ${ROUNDS}`);
      pairs.push({ of: took(await place.start(of)), to: took(await place.start(to)) });
    }
    const medians = [spread(pairs.map(({ of }) => of)), spread(pairs.map(({ to }) => to))];
    return { ...ratios(pairs), made: medians.map(({ median }) => `${median.toFixed(0)} ms`).join(' ÷ ') };
  },
};

const took = ({ spawned, answered }: Start) => answered - spawned;
