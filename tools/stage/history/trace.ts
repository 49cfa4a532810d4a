import { existsSync } from 'node:fs';
import * as z from 'zod/mini';
import { isEventName } from '../../../lambda/events/catalogue.ts';
import { readJson } from '../../terminal/files.ts';
import { CONSOLE_FILE } from '../local-folder.ts';
import { type Pause, pauseState } from '../queues/pause-state.ts';
import type { Stage } from '../stage.ts';
import { deriveHistory } from './derive-history.ts';
import type { Effect } from './facts.ts';
import { type FindOptions, findFacts, type IdKind } from './find-facts.ts';
import type { History, HistoryLocation, PausedQueue } from './history.ts';
import type { SearchedSource } from './log-search.ts';

/** Printed by `npx hookctl trace <id> --json`. */
export interface Trace {
  /** Title for people: `the local stack`, `stage prod in eu-west-1`. */
  readonly stack: string;
  readonly id: string;
  readonly idIs: IdKind;
  readonly history: History;
  /** What the event changed. Empty for a stage in AWS, and without the console of the local stack. */
  readonly effects: readonly Effect[];
  readonly sources: readonly SearchedSource[];
}

/**
 * Finds the history of one event by any of its ids.
 * @returns undefined if it was interrupted
 * @throws CommandError if the id matches no event, or more than one
 */
export async function traceDelivery(
  stage: Stage,
  id: string,
  options: FindOptions,
): Promise<Trace | undefined> {
  const found = await findFacts(stage, id, options);
  if (found === undefined) return undefined;
  const { idIs, facts, sources } = found;
  const history = await locate(stage, deriveHistory(facts));
  const effects = await localEffects(stage, history.steps.find(({ kind }) => kind === 'queued')?.requestId);
  return { stack: stage.title, id, idIs, history, effects, sources };
}

/** Adds whether an event is paused, unless a permission is missing. */
export async function locate(stage: Stage, history: History): Promise<History> {
  const [first, ...others] = history.now;
  const rest = await Promise.all(others.map((location) => withPause(stage, location)));
  return { ...history, now: [await withPause(stage, first), ...rest] };
}

async function withPause(stage: Stage, location: HistoryLocation): Promise<HistoryLocation> {
  const { state, queue = '' } = location;
  if ((state !== 'queued' && state !== 'retrying') || !isEventName(queue)) return location;
  const { pause } = await pauseState(stage, queue).catch(() => ({ pause: undefined }));
  // While an event source is being turned off, it still processes messages.
  if (pause === undefined || pause.running || pause.turningOff) return location;
  return { ...location, state: 'paused', paused: pausedQueue(pause) };
}

export const pausedQueue = ({ by, reason, since }: Pause): PausedQueue => ({
  by,
  reason,
  since: since?.toISOString(),
});

/**
 * Asks the console of the local stack.
 * @returns undefined if it does not run
 */
export async function askLocalConsole(path: string): Promise<Response | undefined> {
  if (!existsSync(CONSOLE_FILE)) return undefined;
  const { url } = z.object({ url: z.string() }).parse(readJson(CONSOLE_FILE));
  return fetch(new URL(path, url)).catch(() => undefined);
}

/**
 * What a delivery's event changed. The console of the local stack observes it; AWS keeps no such history.
 * @param requestId id of the delivery
 */
export async function localEffects(
  { local }: Pick<Stage, 'local'>,
  requestId: string | undefined,
): Promise<readonly Effect[]> {
  if (!local || requestId === undefined) return [];
  const detail = await askLocalConsole(`/api/deliveries/${encodeURIComponent(requestId)}`);
  if (!detail?.ok) return [];
  const { effects } = (await detail.json()) as { readonly effects: readonly Effect[] };
  return effects;
}
