import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../terminal/command-error.ts';
import { printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { deadLettersOf } from './dead-letters.ts';
import { hasSettled } from './derive-history.ts';
import { type FunctionName, followLines } from './follow-facts.ts';
import type { History } from './history.ts';
import { localEffects } from './local-effects.ts';
import { describeEffects, describeLocations, growingTrace } from './print.ts';
import { stateTitle } from './state-text.ts';
import { HistoryStore } from './store.ts';
import { locate, type Trace } from './trace.ts';

/** Maximum difference between the clocks of this computer and CloudWatch Logs, in milliseconds. */
const CLOCKS_DIFFER = 60_000;

/** Milliseconds between two checks of the known facts. */
const INTERVAL = 100;

/** Milliseconds without a log line after which SQS may have moved the message to the dead-letter queue. */
const OVERDUE = 5_000;

/** Milliseconds between two searches for dead letters, on the local stack and in AWS. */
const SEARCH_INTERVAL = { local: 500, aws: 10_000 };

interface WaitOptions {
  /** When the first delivery was posted. */
  readonly since: Date;
  /** Timeout for all deliveries together, from now. */
  readonly seconds: number;
  /** Functions whose logs are read. @default all */
  readonly functions?: readonly FunctionName[] | undefined;
  /**
   * Called with each delivery in turn when it has settled or timed out.
   * @default prints its history as it grows, and its location
   */
  readonly onTrace?: ((trace: Trace) => void) | undefined;
}

interface AwaitedDelivery {
  readonly eventId: string;
  readonly requestId: string;
}

/**
 * Waits until each delivery has settled: processed, skipped, or on a queue that nothing consumes. It follows the logs
 * of the functions, because a query of all logs for each delivery would take longer than most effects.
 * @returns false if a delivery was neither processed nor skipped, or if it was interrupted
 * @throws CommandError if a delivery has not settled and a log cannot be read
 */
export async function awaitDeliveries(
  { stack, signal, printLine, width }: Operation,
  deliveries: readonly AwaitedDelivery[],
  { since, seconds, functions, onTrace }: WaitOptions,
): Promise<boolean> {
  const from = new Date(since.getTime() - CLOCKS_DIFFER);
  const store = new HistoryStore();
  // Other deliveries of the same bytes must not affect the result.
  const historyOf = ({ requestId: id }: AwaitedDelivery) => store.history({ id });
  const problems: string[] = [];
  const ended = new AbortController();
  const inTime = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(seconds * 1000)]);
  const onProblem = (name: string, error: Error | undefined) => {
    if (error) problems.push(`the log of ${name} cannot be read: ${printable(error.message)}`);
  };
  const options = { functions, since: from, signal: inTime, onProblem };
  const following = followLines(stack, options, (facts) => store.add(...facts));
  try {
    for (const one of deliveries) {
      await settle(one, onTrace === undefined ? growingTrace(stack, width) : () => []);
      if (signal.aborted) return false;
      await end(one);
    }
  } finally {
    ended.abort();
    await following;
  }
  const histories = deliveries.map(historyOf);
  if (problems.length > 0 && !histories.every(hasSettled)) {
    throw new CommandError(`Part of the history is unknown: ${problems.join('; ')}`);
  }
  return histories.every(({ now }) => stateTitle(now[0].state).tone === 'good');

  /** Returns when a delivery has settled, or the time is over. */
  async function settle(one: AwaitedDelivery, newLines: (history: History) => string[]): Promise<void> {
    const interval = stack.local ? SEARCH_INTERVAL.local : SEARCH_INTERVAL.aws;
    let searchAt = Date.now() + OVERDUE;
    while (!inTime.aborted) {
      const history = historyOf(one);
      for (const line of newLines(history)) printLine(line);
      if (hasSettled(history)) return;
      await sleep(INTERVAL, undefined, { signal: inTime }).catch(() => {});
      const facts = store.facts({ id: one.requestId });
      searchAt = Math.max(searchAt, ...facts.map(({ at }) => at + OVERDUE));
      if (inTime.aborted || Date.now() < searchAt) continue;
      store.add(...(await deadLettersOf(stack, facts, inTime)).facts);
      searchAt = Date.now() + interval;
    }
  }

  async function end(one: AwaitedDelivery): Promise<void> {
    const history = await locate(stack, historyOf(one));
    const effects = await localEffects(stack, one.requestId);
    if (onTrace === undefined) {
      if (!hasSettled(history)) printLine(`It has not settled after ${seconds} s.`);
      const lines = [...describeLocations(history, stack, width), ...describeEffects(effects, width)];
      for (const line of lines) printLine(line);
      return;
    }
    const { eventId, requestId } = one;
    const times = { since: from.toISOString(), until: new Date().toISOString() };
    const lines = store.facts({ id: requestId }).length;
    // Reading log lines directly costs nothing, unlike a query.
    const logs = { ...times, lines, bytesScanned: 0, truncated: false };
    onTrace({ stack: stack.title, id: eventId, idIs: 'eventId', history, effects, sources: { logs } });
  }
}
