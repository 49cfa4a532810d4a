import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../terminal/command-error.ts';
import { printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { deadLettersOf } from './dead-letters.ts';
import { deriveHistory, hasSettled } from './derive-history.ts';
import type { Fact } from './facts.ts';
import { type FunctionName, followLogs } from './follow-logs.ts';
import type { History } from './history.ts';
import { localEffects } from './local-effects.ts';
import { lineFact } from './log-line.ts';
import { describeEffects, describeLocations, growingTrace } from './print.ts';
import { stateTitle } from './state-text.ts';
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
  readonly facts: Fact[];
  /** The dead letters that the last search found. */
  deadLetters: readonly Fact[];
  /** Time of the last log line about the delivery, and of the last search for dead letters. Epoch milliseconds. */
  lastLineAt: number;
  searchedAt: number;
}

/**
 * Waits until each delivery has settled: processed, skipped, or on a queue that nothing consumes. It follows the logs
 * of the functions, because a query of all logs for each delivery would take longer than most effects.
 * @returns false if a delivery was neither processed nor skipped, or if it was interrupted
 * @throws CommandError if a delivery has not settled and a log cannot be read
 */
export async function awaitDeliveries(
  { stack, signal, printLine, width }: Operation,
  deliveries: readonly { readonly eventId: string; readonly requestId: string }[],
  { since, seconds, functions, onTrace }: WaitOptions,
): Promise<boolean> {
  const from = new Date(since.getTime() - CLOCKS_DIFFER);
  // Other deliveries of the same bytes must not affect the result.
  const awaited = deliveries.map(({ eventId, requestId }): AwaitedDelivery => {
    return { eventId, requestId, facts: [], deadLetters: [], lastLineAt: Date.now(), searchedAt: 0 };
  });
  const problems: string[] = [];
  const ended = new AbortController();
  const inTime = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(seconds * 1000)]);
  const following = follow();
  try {
    for (const one of awaited) {
      await settle(one, growingTrace(stack, width));
      if (signal.aborted) return false;
      await end(one);
    }
  } finally {
    ended.abort();
    await following;
  }
  const histories = awaited.map(historyOf);
  if (problems.length > 0 && !histories.every(hasSettled)) {
    throw new CommandError(`Part of the history is unknown: ${problems.join('; ')}`);
  }
  return histories.every(({ now }) => stateTitle(now[0].state).tone === 'good');

  async function follow(): Promise<void> {
    const byRequest = new Map(awaited.map((one) => [one.requestId, one]));
    const onProblem = (name: FunctionName, { message }: Error) =>
      problems.push(`the log of ${name} cannot be read: ${printable(message)}`);
    for await (const lines of followLogs(stack, { functions, since: from, signal: inTime, onProblem })) {
      for (const fact of lines.flatMap(({ text }) => lineFact(text) ?? [])) {
        const one = byRequest.get(fact.requestId ?? '');
        one?.facts.push(fact);
        if (one !== undefined) one.lastLineAt = Date.now();
      }
    }
  }

  /** Returns when a delivery has settled, or the time is over. */
  async function settle(one: AwaitedDelivery, newLines: (history: History) => string[]): Promise<void> {
    let history: History;
    do {
      await sleep(INTERVAL, undefined, { signal: inTime }).catch(() => {});
      if (!inTime.aborted && isOverdue(one)) await searchDeadLetters(one);
      history = historyOf(one);
      if (onTrace === undefined) for (const line of newLines(history)) printLine(line);
    } while (!hasSettled(history) && !inTime.aborted);
  }

  function isOverdue({ lastLineAt, searchedAt }: AwaitedDelivery): boolean {
    const interval = stack.local ? SEARCH_INTERVAL.local : SEARCH_INTERVAL.aws;
    return Date.now() - lastLineAt > OVERDUE && Date.now() - searchedAt > interval;
  }

  async function searchDeadLetters(one: AwaitedDelivery): Promise<void> {
    one.searchedAt = Date.now();
    const { facts } = await deadLettersOf(stack, one.facts, inTime);
    one.deadLetters = facts.filter(({ requestId = one.requestId }) => requestId === one.requestId);
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
    const { eventId, facts } = one;
    const times = { since: from.toISOString(), until: new Date().toISOString() };
    // Reading log lines directly costs nothing, unlike a query.
    const logs = { ...times, lines: facts.length, bytesScanned: 0, truncated: false };
    onTrace({ stack: stack.title, id: eventId, idIs: 'eventId', history, effects, sources: { logs } });
  }
}

const historyOf = ({ facts, deadLetters }: AwaitedDelivery): History =>
  deriveHistory([...facts, ...deadLetters]);
