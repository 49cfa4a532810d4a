import { setTimeout as sleep } from 'node:timers/promises';
import { type MetricAlarm, PutMetricAlarmCommand, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { EXPIRING_SECONDS, OLD_SECONDS } from '../../../lib/age-of-waiting.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { duration, messages, printable } from '../../terminal/text.ts';
import { caller } from '../caller.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { oldestMessage } from './oldest-message.ts';
import {
  eventOf,
  isPatient,
  type Pause,
  type PauseState,
  pauseOf,
  pauseState,
  pauseText,
} from './pause-state.ts';
import type { QueueState } from './queue.ts';
import { LONGEST_TRIES } from './retries.ts';

interface Pace {
  /** Between two looks at the event source. @default 1000 */
  readonly pollMilliseconds?: number;
}

/**
 * Turns the event source of an event off: what comes from now on waits on its queue. One alarm says so, with who
 * and why, and the one on the age of what waits rings only a day before SQS deletes something. Whatever ends it half-way,
 * repeating it completes it.
 * @returns false where it was interrupted
 * @throws CommandError where there is no such event, or it is paused already
 */
export async function pause(
  operation: Operation,
  name: string,
  reason: string,
  pace: Pace = {},
): Promise<boolean> {
  const { stack, say } = operation;
  const event = eventOf(stack, name);
  const state = await settled(operation, event, pace);
  if (state === undefined) return unchanged(operation);
  const before = pauseOf(event, state.queue, state.source, state.paused);
  const isSaid = before?.since !== undefined && !before.running;
  if (before !== undefined && isSaid && isPatient(state.waiting)) {
    throw new CommandError(`${event} is paused already, ${described(before)}`);
  }

  const by = await caller(stack);
  // First what has the effect: no alarm is to tell of a pause that was refused.
  await turn(stack, state, 'Disabled');
  try {
    if (before !== undefined && isSaid) {
      say(`It is paused already, ${described(before)}. Completing that.`);
    } else {
      // An alarm tells of a new state only: one that is left of a former pause would keep silent.
      if (before?.since !== undefined) await set(stack, state.paused, 'OK', 'Its event source was on');
      await set(stack, state.paused, 'ALARM', pauseText(by, reason));
    }
    if ((await settled(operation, event, pace)) === undefined) return interrupted(operation, event, 'pause');
    // Only now: while nobody is told of the pause, its effect must be.
    await ringAt(stack, state.waiting, EXPIRING_SECONDS);
  } catch (error) {
    throw incomplete(error, `${event} is off, but not all that goes with it is done`);
  }
  say(`Paused. Nothing processes ${event} in ${stack.title}: what comes waits on its queue.`);
  for (const line of await deadline(stack, state.queue)) say(line);
  say(`Go on with: ${stack.command(event, 'resume')}`);
  return true;
}

/**
 * Turns the event source of a paused event on again, and sets both alarms back: the one on age rings anew where
 * messages go on waiting. Whatever ends it half-way, repeating it completes it.
 * @returns false where it was interrupted
 * @throws CommandError where there is no such event, or it is not paused
 */
export async function resume(operation: Operation, name: string, pace: Pace = {}): Promise<boolean> {
  const { stack, say } = operation;
  const event = eventOf(stack, name);
  const state = await settled(operation, event, pace);
  if (state === undefined) return unchanged(operation);
  const before = pauseOf(event, state.queue, state.source, state.paused);
  if (before === undefined && !isPatient(state.waiting)) {
    throw new CommandError(`${event} is not paused in ${stack.title}`);
  }

  const by = await caller(stack);
  await turn(stack, state, 'Enabled');
  try {
    if ((await settled(operation, event, pace)) === undefined) return interrupted(operation, event, 'resume');
    await ringAt(stack, state.waiting, OLD_SECONDS);
    // An alarm acts on a new state only: one that came on in the pause would keep silent about what stays.
    const { waiting } = await pauseState(stack, event);
    if (waiting.StateValue === 'ALARM') await set(stack, waiting, 'OK', `Resumed by ${by}`);
    await set(stack, state.paused, 'OK', `Resumed by ${by}`);
  } catch (error) {
    throw incomplete(error, `${event} is on, but not all that goes with it is done`);
  }
  const { visible } = state.queue;
  const waited =
    visible === 0 ? 'Nothing waited.' : `About ${messages(visible)} waited, now to be processed.`;
  say(`Resumed ${event} in ${stack.title}. ${waited}`);
  if (before?.since !== undefined) say(`It had been paused ${described(before)}`);
  return true;
}

/**
 * Waits until the event source is on or off, and tells what it does meanwhile.
 * @returns undefined where Ctrl-C ended the wait
 */
async function settled(
  { stack, signal, say }: Operation,
  event: EventName,
  { pollMilliseconds = 1000 }: Pace,
): Promise<PauseState | undefined> {
  let told: string | undefined;
  for (;;) {
    const state = await pauseState(stack, event);
    if (state.source === 'Enabled' || state.source === 'Disabled') return state;
    if (state.source !== told) say(`The event source of ${event}: ${state.source} …`);
    told = state.source;
    await sleep(pollMilliseconds, undefined, { signal }).catch(() => {});
    if (signal.aborted) return undefined;
  }
}

async function turn(
  { lambda }: Stage,
  { uuid, source }: PauseState,
  to: 'Enabled' | 'Disabled',
): Promise<void> {
  if (source === to) return;
  await lambda.send(new UpdateEventSourceMappingCommand({ UUID: uuid, Enabled: to === 'Enabled' }));
}

async function set(
  { cloudwatch }: Stage,
  alarm: MetricAlarm,
  StateValue: 'OK' | 'ALARM',
  StateReason: string,
): Promise<void> {
  await cloudwatch.send(new SetAlarmStateCommand({ AlarmName: nameOf(alarm), StateValue, StateReason }));
}

/** Has the alarm on age ring at another age. Who gives all that DescribeAlarms tells of an alarm changes nothing else. */
async function ringAt(
  { cloudwatch }: Stage,
  {
    StateValue: _state,
    StateReason: _reason,
    StateReasonData: _data,
    StateUpdatedTimestamp: _updated,
    StateTransitionedTimestamp: _transitioned,
    AlarmArn: _arn,
    AlarmConfigurationUpdatedTimestamp: _configured,
    EvaluationState: _evaluation,
    ...waiting
  }: MetricAlarm,
  Threshold: number,
): Promise<void> {
  await cloudwatch.send(
    new PutMetricAlarmCommand({
      ...waiting,
      AlarmName: nameOf(waiting),
      // A pause of an earlier version has muted it.
      ActionsEnabled: true,
      EvaluationPeriods: waiting.EvaluationPeriods,
      ComparisonOperator: waiting.ComparisonOperator,
      Threshold,
    }),
  );
}

const nameOf = ({ AlarmName = '' }: MetricAlarm) => AlarmName;

/** `since 2026-01-31T09:00:00.000Z, by …: …`. */
function described({ since, by = 'nobody knows whom', reason = '' }: Pause): string {
  return `since ${since?.toISOString()}, by ${by}: ${printable(reason)}`;
}

function unchanged({ say }: Operation): false {
  say('Interrupted. Nothing has been changed.');
  return false;
}

function interrupted({ stack, say }: Operation, event: EventName, script: 'pause' | 'resume'): false {
  say(`Interrupted, and not complete. Repeat the command to complete it, or undo it: ${undo()}`);
  return false;

  function undo(): string {
    return script === 'pause'
      ? stack.command(event, 'resume')
      : stack.command(`${event} --reason "…"`, 'pause');
  }
}

function incomplete(error: unknown, what: string): CommandError {
  const { name, message } = error as Error;
  return new CommandError(`${what}: ${name}: ${message.split('\n')[0]}. Repeat the command to complete it`);
}

/** Until when nothing is lost. */
async function deadline(stack: Stage, queue: QueueState): Promise<string[]> {
  const { arn, visible, inFlight, retention } = queue;
  const kept = duration(retention * 1000);
  const empty = visible + inFlight === 0;
  const came = empty ? Date.now() : await oldestMessage(stack, arn);
  // Those that back off are left out of the age after three receives.
  const first = Math.min(
    came ?? Date.now(),
    inFlight > 0 ? Date.now() - LONGEST_TRIES : Number.POSITIVE_INFINITY,
  );
  const until = first + retention * 1000;
  return [
    `Nothing is lost until ${new Date(until).toISOString()}, for ${duration(until - Date.now())}: SQS deletes an event ${kept} after it came, and an alarm rings a day before.`,
    ...(came === undefined
      ? [
          `But CloudWatch does not know the age of the oldest of the ${messages(visible + inFlight)} that wait already: take it off.`,
        ]
      : []),
  ];
}
