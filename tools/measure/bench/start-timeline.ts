import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import type { Seen } from './aws/aws.ts';
import type { StartUpOptions } from './bundle-variants.ts';
import { spread } from './figure.ts';
import { type Start, startingPlace } from './first-request.ts';
import { bundleReceiver } from './receiver.ts';

/** Parts of the module that are shown by name: those that take longest. */
const PARTS = 6;

const EVALUATION = 'evaluates the module';

/** One step of a start. */
export interface Step {
  readonly name: string;
  /** When it ends, in milliseconds from the start of the process; undefined of a part of another step. */
  readonly at: number | undefined;
  /** What it takes, in milliseconds; of what a service sees, since the module was evaluated. */
  readonly took: number;
}

/** Where the time of a start goes until the first 200, over TLS 5 ms away: the median of each step. */
export async function startTimeline({ rounds, onProgress, signal }: StartUpOptions): Promise<Step[]> {
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
  return timeline.toSpliced(evaluation + 1, 0, ...parts.slice(0, PARTS));
}

const byEnd = (one: Step, other: Step) => (one.at ?? 0) - (other.at ?? 0);

/** Steps that end at a time, and the parts of the module's evaluation, which do not. */
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
    // Of what is seen at the other end.
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

/** Has each file of the bundle note when its evaluation begins. */
const timed: Plugin = {
  name: 'timed',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.(?:m?js|ts)$/ }, async ({ path }) => {
      const note = `globalThis.evaluated?.push({ part: ${JSON.stringify(partOf(path))}, at: performance.timeOrigin + performance.now() });`;
      const contents = await readFile(path, 'utf8');
      // What follows the handler is waiting, and no evaluation.
      const marked = path.endsWith('/receiver/handler.ts')
        ? contents.replace('await warmUp(', `${note} await warmUp(`)
        : contents;
      return { contents: `${note}\n${marked}`, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

/** A package, or a file of ours. */
function partOf(path: string): string {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return name ?? path.replace(`${process.cwd()}/`, '');
}
