import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../terminal/command-error.ts';
import { printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { deadLettersOf } from './dead-letters.ts';
import { hasSettled } from './derive-history.ts';
import { followLines } from './follow-facts.ts';
import { HistoryStore } from './store.ts';
import { localEffects, locate, type Trace } from './trace.ts';

/** Maximum difference between the clocks of this computer and CloudWatch Logs, in milliseconds. */
const CLOCKS_DIFFER = 60_000;

const INTERVAL = 100;

/** Milliseconds without a log line after which SQS may have moved the message to the dead-letter queue. */
const OVERDUE = 5_000;

/** Milliseconds between two searches for dead letters, on the local stack and in AWS. */
const SEARCH_INTERVAL = { local: 500, aws: 10_000 };

/**
 * Waits until a delivery has settled (processed, skipped, or on a queue that nothing consumes) or the time is over. It
 * follows the logs of the functions, because queries of all logs would take longer than most effects.
 * @param since when the delivery was posted
 * @returns undefined if it was interrupted
 * @throws CommandError if the delivery has not settled and a log cannot be read
 */
export async function awaitDelivery(
  { stack, signal }: Pick<Operation, 'stack' | 'signal'>,
  { eventId, requestId }: { readonly eventId: string; readonly requestId: string },
  { since, seconds }: { readonly since: Date; readonly seconds: number },
): Promise<Trace | undefined> {
  const store = new HistoryStore();
  // Other deliveries of the same bytes must not affect the result.
  const own = { id: requestId };
  const problems = new Map<string, string>();
  const ended = new AbortController();
  const inTime = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(seconds * 1000)]);
  const onProblem = (name: string, error: Error | undefined) => {
    if (error === undefined) problems.delete(name);
    else problems.set(name, `the log of ${name} cannot be read: ${printable(error.message)}`);
  };
  const options = { since: new Date(since.getTime() - CLOCKS_DIFFER), signal: inTime, onProblem };
  const following = followLines(stack, options, (facts) => store.add(...facts));
  const interval = stack.local ? SEARCH_INTERVAL.local : SEARCH_INTERVAL.aws;
  let searchAt = Date.now() + OVERDUE;
  try {
    while (!inTime.aborted && !hasSettled(store.history(own))) {
      await sleep(INTERVAL, undefined, { signal: inTime }).catch(() => {});
      const facts = store.facts(own);
      searchAt = Math.max(searchAt, ...facts.map(({ at }) => at + OVERDUE));
      if (inTime.aborted || Date.now() < searchAt) continue;
      store.add(...((await deadLettersOf(stack, facts, inTime))?.facts ?? []));
      searchAt = Date.now() + interval;
    }
  } finally {
    ended.abort();
    await following;
  }
  if (signal.aborted) return undefined;
  const history = await locate(stack, store.history(own));
  if (!hasSettled(history) && problems.size > 0) {
    throw new CommandError(`Part of the history is unknown: ${[...problems.values()].join('; ')}`);
  }
  const effects = await localEffects(stack, requestId);
  return { stack: stack.title, id: eventId, idIs: 'eventId', history, effects, sources: [] };
}
