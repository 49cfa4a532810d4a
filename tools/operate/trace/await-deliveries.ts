import { CommandError } from '../../terminal/command-error.ts';
import { printable } from '../../terminal/text.ts';
import type { Operation } from '../dead-letters/operation.ts';
import { type FunctionName, followLogs } from '../logs/follow.ts';
import { buildTimeline } from './build-timeline.ts';
import { describePlaces, titleOf } from './describe.ts';
import { GrowingTimeline } from './growing-timeline.ts';
import { locate } from './locate.ts';
import { type LogLine, parseLogLine } from './log-line.ts';
import type { Timeline, Trace } from './timeline.ts';

/** By how much the clocks of this machine and of CloudWatch Logs may differ, in milliseconds. */
const CLOCKS_DIFFER = 60_000;

/** A delivery that was accepted. */
export interface AcceptedDelivery {
  readonly eventId: string;
  readonly requestId: string;
}

export interface AwaitOptions {
  /** When the first was posted. */
  readonly since: Date;
  /** How long to wait from now on, for all of them. */
  readonly seconds: number;
  /** Whose lines tell of them. @default every function's */
  readonly functions?: readonly FunctionName[] | undefined;
  /** Told of each in turn, when it has come to its end, or did not in time. @default the timeline is said as it grows */
  readonly onTrace?: ((trace: Trace, index: number) => void) | undefined;
}

/**
 * Waits until each delivery has come to its end: its effect, or a queue where somebody has to look. By the lines that
 * functions write, as a query of all logs for each of them would take longer than most effects.
 * @returns false where one has had no effect
 * @throws CommandError where a log cannot be read
 */
export async function awaitDeliveries(
  operation: Operation,
  deliveries: readonly AcceptedDelivery[],
  { since, seconds, functions, onTrace }: AwaitOptions,
): Promise<boolean> {
  const { stack, signal, say, width } = operation;
  const from = new Date(since.getTime() - CLOCKS_DIFFER);
  const lines = new Map<string, LogLine[]>(deliveries.map(({ requestId }) => [requestId, []]));
  const problems: string[] = [];
  const left = deliveries.map((delivery, index) => ({ delivery, index, shown: new GrowingTimeline(width) }));
  let allHadEffects = true;

  const timelineOf = ({ eventId, requestId }: AcceptedDelivery) =>
    buildTimeline(eventId, lines.get(requestId) ?? [], [], Date.now());

  function showSteps(timeline: Timeline, shown: GrowingTimeline): void {
    if (onTrace !== undefined || timeline.steps.length === 0) return;
    const isFirst = shown.isEmpty;
    const grown = shown.grow(timeline);
    if (isFirst) say(`\n${titleOf(timeline, stack, width)}`);
    for (const line of grown) say(line);
  }

  async function end({ delivery, index }: { delivery: AcceptedDelivery; index: number }, timeline: Timeline) {
    const isSettled = hasSettled(timeline);
    if (timeline.now[0].state !== 'done' || !isSettled) allHadEffects = false;
    const located = await locate(stack, timeline);
    if (onTrace === undefined) {
      if (!isSettled) say(`${delivery.eventId}: still on its way after ${seconds} s.`);
      for (const line of describePlaces(located, stack, width)) say(line);
      return;
    }
    const logs = {
      since: from.toISOString(),
      until: new Date().toISOString(),
      lines: lines.get(delivery.requestId)?.length ?? 0,
      // Reading a log line by line costs nothing.
      bytesScanned: 0,
      truncated: false,
    };
    const trace: Trace = {
      stack: stack.title,
      id: delivery.eventId,
      idIs: 'eventId',
      timeline: located,
      sources: { logs },
    };
    onTrace(trace, index);
  }

  const limit = AbortSignal.timeout(seconds * 1000);
  const following = followLogs(stack, {
    functions,
    since: from,
    signal: AbortSignal.any([signal, limit]),
    onProblem: (name, error) => problems.push(`${name}: ${error.name}: ${printable(error.message)}`),
  });
  for await (const batch of following) {
    for (const { text } of batch) {
      const line = parseLogLine(text);
      if (line?.requestId !== undefined) lines.get(line.requestId)?.push(line);
    }
    for (let first = left[0]; first !== undefined; first = left[0]) {
      const timeline = timelineOf(first.delivery);
      showSteps(timeline, first.shown);
      if (!hasSettled(timeline)) break;
      left.shift();
      await end(first, timeline);
    }
    if (left.length === 0) break;
  }
  if (signal.aborted) return false;
  for (const one of left) {
    const timeline = timelineOf(one.delivery);
    showSteps(timeline, one.shown);
    await end(one, timeline);
  }
  if (left.length > 0 && problems.length > 0) throw new CommandError(`Not all logs could be read: ${problems[0]}`);
  return allHadEffects;
}

/** Whether nothing more happens to it by itself, and the receiver's line is there, too. */
function hasSettled({ steps, now: [place] }: Timeline): boolean {
  const isAnswered = steps.some(({ what }) => what === 'answered');
  return isAnswered && ['done', 'dead letter', 'parked', 'quarantined', 'not accepted'].includes(place.state);
}
