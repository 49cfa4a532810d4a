import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { type Aws, makeCertificate, type Seen, startAws } from './aws.ts';
import { delivery } from './delivery.ts';
import { type Figure, ratios, spread } from './figure.ts';
import { outputOf } from './processes.ts';
import { bundleReceiver, noWarmUp, receiverEnvironment } from './receiver.ts';

/** Starts of each bundle: enough for a stable median on a noisy computer. */
const ROUNDS = 20;

/** Network delay between the function and AWS, each way, in milliseconds. */
const DELAY = 5;

/** Times of one start, in milliseconds since the epoch. */
interface Start {
  readonly spawned: number;
  readonly booted: number;
  readonly loaded: number;
  readonly answered: number;
  /** When the evaluation of each part of the bundle began, if the bundle records it. */
  readonly evaluated: readonly { readonly part: string; readonly at: number }[];
}

interface StartingPlace extends AsyncDisposable {
  readonly aws: Aws;
  readonly folder: string;
  /** Starts a bundle in its own process, and sends it a request. @throws Error if the answer is not 200 */
  start(bundle: string): Promise<Start>;
}

async function startingPlace(signal?: AbortSignal): Promise<StartingPlace> {
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

/** Benefit of the warm-up: the function reads its secret and connects to SQS during its start. */
export const firstRequest: Figure = {
  name: 'first-request',
  title: 'start of the process to the first 200, over TLS 5 ms away ÷ without its warm-up',
  goal: { atMost: 0.75 },
  async measure({ signal, onProgress }) {
    await using place = await startingPlace(signal);
    const [of, to] = [join(place.folder, 'warm-up'), join(place.folder, 'no-warm-up')];
    await Promise.all([bundleReceiver(of), bundleReceiver(to, { plugins: [noWarmUp] })]);
    const pairs: { of: number; to: number }[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      onProgress(`start ${round} of ${ROUNDS}`);
      pairs.push({ of: took(await place.start(of)), to: took(await place.start(to)) });
    }
    const medians = [spread(pairs.map(({ of }) => of)), spread(pairs.map(({ to }) => to))];
    return { ...ratios(pairs), made: medians.map(({ median }) => `${median.toFixed(0)} ms`).join(' ÷ ') };
  },
};

const took = ({ spawned, answered }: Start) => answered - spawned;

/** Number of the module's parts shown, slowest first. */
const PARTS = 6;

const EVALUATION = 'evaluates the module';

export interface Step {
  readonly name: string;
  /** When it ends, in milliseconds from the start of the process. Undefined for a part of another step. */
  readonly at: number | undefined;
  /** Milliseconds that it takes. For events at a service, milliseconds since the module was evaluated. */
  readonly took: number;
}

interface TimelineOptions {
  readonly rounds: number;
  readonly onProgress?: (rounds: number) => void;
  readonly signal?: AbortSignal;
}

/** Times of the steps of a start until the first 200, over TLS with 5 ms delay: the median of each step. */
export async function startTimeline({ rounds, onProgress, signal }: TimelineOptions): Promise<Step[]> {
  await using place = await startingPlace(signal);
  const folder = join(place.folder, 'timed');
  await bundleReceiver(folder, { plugins: [timed] });
  const runs: Step[][] = [];
  for (let round = 1; round <= rounds; round += 1) {
    place.aws.seen();
    runs.push(stepsOf(await place.start(folder), place.aws.seen()));
    onProgress?.(round);
  }
  const names = new Set(runs.flatMap((run) => run.map(({ name }) => name)));
  const steps = [...names].map((name) => {
    const all = runs.flatMap((run) => run.filter((step) => step.name === name));
    const ends = all.flatMap(({ at }) => at ?? []);
    return {
      name,
      at: ends.length === 0 ? undefined : spread(ends).median,
      took: spread(all.map(({ took }) => took)).median,
    };
  });
  const parts = steps.filter(({ at }) => at === undefined).toSorted((one, other) => other.took - one.took);
  const timeline = steps.filter(({ at }) => at !== undefined).toSorted(byEnd);
  const evaluation = timeline.findIndex(({ name }) => name === EVALUATION);
  timeline.splice(evaluation + 1, 0, ...parts.slice(0, PARTS));
  return timeline;
}

const byEnd = (one: Step, other: Step) => (one.at ?? 0) - (other.at ?? 0);

/** Steps with an end time, and the parts of the module's evaluation, which have none. */
function stepsOf({ spawned, booted, loaded, answered, evaluated }: Start, seen: readonly Seen[]): Step[] {
  const steps: Step[] = [];
  const add = (name: string, from: number, to: number) =>
    steps.push({ name, at: to - spawned, took: to - from });
  const [first, last] = [evaluated[0]?.at ?? loaded, evaluated.at(-1)?.at ?? loaded];
  add('Node.js boots', spawned, booted);
  add('reads and compiles the module', booted, first);
  add(EVALUATION, first, last);
  for (const { service, at, what, operation, stage } of seen) {
    const told = [operation, stage].filter((text) => text !== undefined).join(' ');
    if (what === 'connected') add(`${service}: TLS is open`, last, at);
    if (what === 'asked') add(`${service}: ${told} has come`, last, at);
  }
  add('the module is loaded, with its warm-up', last, loaded);
  add('the first request is answered', loaded, answered);
  const parts = new Map<string, number>();
  for (const [index, { part, at }] of evaluated.entries()) {
    const next = evaluated[index + 1]?.at ?? at;
    parts.set(part, (parts.get(part) ?? 0) + next - at);
  }
  return [...steps, ...[...parts].map(([part, took]) => ({ name: `  of it ${part}`, at: undefined, took }))];
}

/** esbuild plugin: each file of the bundle records when its evaluation begins. */
const timed: Plugin = {
  name: 'timed',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.(?:m?js|ts)$/ }, async ({ path }) => {
      const note = `globalThis.evaluated?.push({ part: ${JSON.stringify(partOf(path))}, at: performance.timeOrigin + performance.now() });`;
      const contents = await readFile(path, 'utf8');
      // The entry point is recorded again before the warm-up: the rest of the file only waits for it.
      const marked = path.endsWith('/receiver/handler.ts')
        ? contents.replace('await warmUp(', `${note} await warmUp(`)
        : contents;
      return { contents: `${note}\n${marked}`, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

/** A package, or a file of this project. */
function partOf(path: string): string {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return name ?? path.replace(`${process.cwd()}/`, '');
}
