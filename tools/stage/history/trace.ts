import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { isEventName } from '../../../lambda/events/catalogue.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { readJson } from '../../terminal/files.ts';
import { printable } from '../../terminal/text.ts';
import { CONSOLE_FILE } from '../local-folder.ts';
import { type Pause, pauseState } from '../queues/pause.ts';
import type { Stage } from '../stage.ts';
import { deadLettersOf } from './dead-letters.ts';
import { deriveHistory, hasSettled } from './derive-history.ts';
import { type Effect, type Fact, identityOf } from './facts.ts';
import { type FindOptions, findFacts } from './find-facts.ts';
import { followLines } from './follow-facts.ts';
import type { History, HistoryLocation, PausedQueue } from './history.ts';
import type { SearchedSource } from './log-search.ts';

/** Maximum difference between the clocks of this computer and CloudWatch Logs, in milliseconds. */
const CLOCKS_DIFFER = 60_000;

const INTERVAL = 100;

/** Milliseconds without a log line after which SQS may have moved the message to the dead-letter queue. */
const OVERDUE = 5_000;

/** Milliseconds between two searches for dead letters, on the local stack and in AWS. */
const SEARCH_INTERVAL = { local: 500, aws: 10_000 };

/** Printed by `npx hookctl trace <id> --json`. */
export interface Trace {
  /** Title for people: `the local stack`, `stage prod in eu-west-1`. */
  readonly stack: string;
  readonly id: string;
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
  const { facts, sources } = found;
  const history = await locate(stage, deriveHistory(facts));
  const effects = await localEffects(stage, history.steps.find(({ kind }) => kind === 'queued')?.requestId);
  return { stack: stage.title, id, history, effects, sources };
}

/**
 * Waits until a delivery has settled (processed, skipped, or on a queue that nothing consumes) or the time is over. It
 * follows the logs of the functions, because queries of all logs would take longer than most effects.
 * @param since when the delivery was posted
 * @returns its history, without other deliveries of the same bytes; undefined if it was interrupted
 * @throws CommandError if the delivery has not settled and a log cannot be read
 */
export async function awaitDelivery(
  stage: Stage,
  { eventId, requestId }: { readonly eventId: string; readonly requestId: string },
  { since, seconds, signal }: { since: Date; seconds: number; signal: AbortSignal },
): Promise<Trace | undefined> {
  const own = new Map<string, Fact>();
  const add = (facts: readonly Fact[]) => {
    for (const fact of facts) if (fact.requestId === requestId) own.set(identityOf(fact), fact);
  };
  const known = () => [...own.values()];
  const problems = new Map<string, string>();
  const ended = new AbortController();
  const inTime = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(seconds * 1000)]);
  const onRead = (name: string, error: Error | undefined) => {
    if (error === undefined) problems.delete(name);
    else problems.set(name, `the log of ${name} cannot be read: ${printable(error.message)}`);
  };
  const options = { since: new Date(since.getTime() - CLOCKS_DIFFER), signal: inTime, onRead };
  const following = followLines(stage, options, add);
  let searchAt = Date.now() + OVERDUE;
  try {
    while (!inTime.aborted && !hasSettled(deriveHistory(known()))) {
      await sleep(INTERVAL, undefined, { signal: inTime }).catch(() => {});
      searchAt = Math.max(searchAt, ...known().map(({ at }) => at + OVERDUE));
      if (inTime.aborted || Date.now() < searchAt) continue;
      add((await deadLettersOf(stage, known(), inTime))?.facts ?? []);
      searchAt = Date.now() + (stage.local ? SEARCH_INTERVAL.local : SEARCH_INTERVAL.aws);
    }
  } finally {
    ended.abort();
    await following;
  }
  if (signal.aborted) return undefined;
  const history = await locate(stage, deriveHistory(known()));
  if (!hasSettled(history) && problems.size > 0) {
    throw new CommandError(`Part of the history is unknown: ${[...problems.values()].join('; ')}`);
  }
  const effects = await localEffects(stage, requestId);
  return { stack: stage.title, id: eventId, history, effects, sources: [] };
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
 * What a delivery's event changed. The console of the local stack observes it; AWS keeps no such history.
 * @param requestId id of the delivery
 * @returns nothing if the console does not run
 */
async function localEffects(
  { local }: Pick<Stage, 'local'>,
  requestId: string | undefined,
): Promise<readonly Effect[]> {
  if (!local || requestId === undefined || !existsSync(CONSOLE_FILE)) return [];
  const { url } = z.object({ url: z.string() }).parse(readJson(CONSOLE_FILE));
  const path = `/api/deliveries/${encodeURIComponent(requestId)}`;
  const detail = await fetch(new URL(path, url)).catch(() => undefined);
  if (!detail?.ok) return [];
  const { effects } = (await detail.json()) as { readonly effects: readonly Effect[] };
  return effects;
}
