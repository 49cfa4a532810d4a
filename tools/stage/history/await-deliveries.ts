import { CommandError } from '../../terminal/command-error.ts';
import { printable } from '../../terminal/text.ts';
import { type FunctionName, followLogs } from '../logs/follow.ts';
import type { Operation } from '../operation.ts';
import { AwaitedDelivery } from './awaited-delivery.ts';
import { describePlaces, titleOf } from './describe.ts';
import { locate } from './locate.ts';
import { parseLogLine } from './log-line.ts';
import type { Trace } from './timeline.ts';

/** By how much the clocks of this machine and of CloudWatch Logs may differ, in milliseconds. */
const CLOCKS_DIFFER = 60_000;

export interface AwaitOptions {
  /** When the first was posted. */
  readonly since: Date;
  /** How long to wait from now on, for all of them. */
  readonly seconds: number;
  /** Whose lines tell of them. @default every function's */
  readonly functions?: readonly FunctionName[] | undefined;
  /**
   * Told of each in turn, once it has come to its end or has not in time.
   * @default its timeline is said as it grows, and where it is
   */
  readonly onTrace?: ((trace: Trace) => void) | undefined;
}

/**
 * Waits until each delivery has come to its end: its effect, or a queue where somebody has to look. It reads the lines
 * that functions write: a query of all logs for each delivery would take longer than most effects.
 * @returns false where one has had no effect, or it was interrupted
 * @throws CommandError where one has not come to its end, and a log cannot be read
 */
export async function awaitDeliveries(
  operation: Operation,
  deliveries: readonly { readonly eventId: string; readonly requestId: string }[],
  { since, seconds, functions, onTrace }: AwaitOptions,
): Promise<boolean> {
  const { stack, signal, say, width } = operation;
  const from = new Date(since.getTime() - CLOCKS_DIFFER);
  const awaited = deliveries.map((ids) => new AwaitedDelivery(ids, width));
  const byRequest = new Map(awaited.map((one) => [one.requestId, one]));
  const problems: string[] = [];
  const following = followLogs(stack, {
    functions,
    since: from,
    signal: AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]),
    onProblem: (name, { message }) => problems.push(`the log of ${name}: ${printable(message)}`),
  });
  let next = 0;
  for await (const lines of following) {
    for (const { text } of lines) {
      const line = parseLogLine(text);
      if (line !== undefined) byRequest.get(line.requestId ?? '')?.add(line);
    }
    for (let one = awaited[next]; one !== undefined; one = awaited[next]) {
      show(one);
      if (!one.hasSettled) break;
      await end(one);
      next += 1;
    }
    if (next === awaited.length) break;
  }
  if (signal.aborted) return false;
  for (const one of awaited.slice(next)) {
    show(one);
    await end(one);
  }
  if (next < awaited.length && problems.length > 0) {
    throw new CommandError(`Not all can be known: ${problems.join('; ')}`);
  }
  return awaited.every((one) => one.hadEffect);

  function show(one: AwaitedDelivery): void {
    if (onTrace !== undefined) return;
    const { isNew } = one;
    const lines = one.grow();
    if (isNew && lines.length > 0) say(`\n${titleOf(one.timeline, stack, width)}`);
    for (const line of lines) say(line);
  }

  async function end(one: AwaitedDelivery): Promise<void> {
    const timeline = await locate(stack, one.timeline);
    if (onTrace === undefined) {
      if (!one.hasSettled) say(`Still on its way after ${seconds} s.`);
      for (const line of describePlaces(timeline, stack, width)) say(line);
      return;
    }
    const times = { since: from.toISOString(), until: new Date().toISOString() };
    // To read a log by its lines costs nothing.
    const logs = { ...times, lines: one.lineCount, bytesScanned: 0, truncated: false };
    onTrace({ stack: stack.title, id: one.eventId, idIs: 'eventId', timeline, sources: { logs } });
  }
}
