import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../cli/terminal/command-error.ts';
import { printable } from '../../cli/terminal/text.ts';
import { type FunctionName, followLogs } from '../logs/follow-logs.ts';
import type { Operation } from '../operation.ts';
import type { Fact } from './facts.ts';
import { fold, hasSettled } from './fold.ts';
import type { History } from './history.ts';
import { localEffects } from './local-effects.ts';
import { lineFact, parseCrash } from './log-line.ts';
import { describeEffects, describePlaces, growingTrace } from './print.ts';
import { stateTitle } from './state-text.ts';
import type { Trace } from './trace.ts';
import { locate } from './trace.ts';
import { unloggedFacts } from './unlogged-facts.ts';

/** Maximum difference between the clocks of this computer and CloudWatch Logs, in milliseconds. */
const CLOCKS_DIFFER = 60_000;

/** Milliseconds between two checks of the known facts. */
const INTERVAL = 100;

/**
 * Milliseconds without a line after which an attempt is overdue, so that the message may be on the dead-letter queue.
 */
const OVERDUE = 5_000;

/** Milliseconds between two searches for dead letters and crashes, on the local stack and in AWS. */
const LOOK_INTERVAL = { local: 500, aws: 10_000 };

/**
 * Waits until each delivery has settled: processed, skipped, or on a queue that nothing consumes. It follows the logs
 * of the functions, because a query of all logs for each delivery would take longer than most effects.
 * @returns false if a delivery was neither processed nor skipped, or if it was interrupted
 * @throws CommandError if a delivery has not settled and a log cannot be read
 */
export async function awaitDeliveries(
  { stack, signal, printLine, width }: Operation,
  deliveries: readonly { readonly eventId: string; readonly requestId: string }[],
  {
    since,
    seconds,
    functions,
    onTrace,
  }: {
    /** When the first delivery was posted. */
    readonly since: Date;
    /** Timeout for all deliveries together, from now. */
    readonly seconds: number;
    /** Functions whose logs are read. @default all */
    readonly functions?: readonly FunctionName[] | undefined;
    /**
     * Called with each delivery in turn when it has settled or timed out.
     * @default prints its history as it grows, and its place
     */
    readonly onTrace?: ((trace: Trace) => void) | undefined;
  },
): Promise<boolean> {
  const from = new Date(since.getTime() - CLOCKS_DIFFER);
  // Other deliveries of the same bytes must not affect the result.
  const awaited = deliveries.map(({ eventId, requestId }) => ({
    eventId,
    requestId,
    facts: [] as Fact[],
    /** Dead letters and crashes, as of the last search. */
    unlogged: [] as Fact[],
    /** Time of the last line about the delivery, and of the last search. Epoch milliseconds. */
    heardAt: Date.now(),
    lookedAt: 0,
    newLines: growingTrace(stack, width),
  }));
  type Delivery = (typeof awaited)[number];
  const historyOf = ({ facts, unlogged }: Delivery): History => fold([...facts, ...unlogged]);
  const byRequest = new Map(awaited.map((one) => [one.requestId, one]));
  const problems: string[] = [];
  /** A line reported a crash of the consumer. */
  let hasCrashed = false;
  const ended = new AbortController();
  const inTime = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(seconds * 1000)]);
  const following = follow();
  let settled = 0;
  try {
    while (!inTime.aborted && settled < awaited.length) {
      for (let one = awaited[settled]; one !== undefined; one = awaited[settled]) {
        if (isSilent(one)) await look(one);
        if (!hasSettled(show(one))) break;
        await end(one);
        settled += 1;
      }
      if (settled < awaited.length) await sleep(INTERVAL, undefined, { signal: inTime }).catch(() => {});
    }
  } finally {
    ended.abort();
    await following;
  }
  if (signal.aborted) return false;
  for (const one of awaited.slice(settled)) {
    show(one);
    await end(one);
  }
  if (settled < awaited.length && problems.length > 0) {
    throw new CommandError(`Part of the history is unknown: ${problems.join('; ')}`);
  }
  return awaited.every((one) => stateTitle(historyOf(one).now[0].state).tone === 'good');

  async function follow(): Promise<void> {
    const lines = followLogs(stack, {
      functions,
      since: from,
      signal: inTime,
      onProblem: (name, { message }) =>
        problems.push(`the log of ${name} cannot be read: ${printable(message)}`),
    });
    for await (const batch of lines) {
      for (const { function: name, text } of batch) {
        const fact = lineFact(text);
        const one = byRequest.get(fact?.requestId ?? '');
        if (fact !== undefined) one?.facts.push(fact);
        if (one !== undefined) one.heardAt = Date.now();
        hasCrashed ||= parseCrash(text, name) !== undefined;
      }
    }
  }

  function isSilent({ heardAt, lookedAt }: Delivery): boolean {
    const interval = stack.local ? LOOK_INTERVAL.local : LOOK_INTERVAL.aws;
    return (hasCrashed || Date.now() - heardAt > OVERDUE) && Date.now() - lookedAt > interval;
  }

  async function look(one: Delivery): Promise<void> {
    one.lookedAt = Date.now();
    const { facts } = await unloggedFacts(stack, one.facts, inTime);
    one.unlogged = facts.filter(({ requestId = one.requestId }) => requestId === one.requestId);
  }

  function show(one: Delivery): History {
    const history = historyOf(one);
    if (onTrace === undefined) for (const line of one.newLines(history)) printLine(line);
    return history;
  }

  async function end(one: Delivery): Promise<void> {
    const history = await locate(stack, historyOf(one));
    const effects = await localEffects(stack, one.requestId);
    if (onTrace === undefined) {
      if (!hasSettled(history)) printLine(`It has not settled after ${seconds} s.`);
      const lines = [...describePlaces(history, stack, width), ...describeEffects(effects, width)];
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
