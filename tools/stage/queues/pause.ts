import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeAlarmsCommand,
  type MetricAlarm,
  PutMetricAlarmCommand,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { ListEventSourceMappingsCommand, UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { alarmTable } from '../../../lib/alarms/alarm-table.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { duration, messages, printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { eventOf, queueState } from './queue.ts';

export interface Pause {
  readonly event: EventName;
  /** Messages on the event's queue, without those that wait for a retry. */
  readonly waiting: number;
  /** ARN of the person who paused it. Absent if the event source was turned off without `npx hookctl pause`. */
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  readonly since?: Date | undefined;
  /** Whether the event source is on in spite of the pause. */
  readonly running: boolean;
  /** The event source is being turned off. Messages that it receives until then are processed. */
  readonly turningOff?: true | undefined;
}

/** Ages in seconds at which the alarm `Waiting` fires. */
const { threshold, thresholdInPause } = alarmTable['<Event>/Waiting'].fires;

/** Matches the state reason of the alarm in a pause, which its mail shows. */
const PAUSED = /^Paused by (\S+): (.*)$/s;

const UNCHANGED = 'Interrupted. Nothing was changed.';
const REPEAT = 'Interrupted before it was complete. Repeat the command to complete it, or undo it';

/**
 * Turns off the event source of an event: new messages stay on its queue. One alarm reports the pause, with the person
 * and the reason. During the pause, the alarm on the age of messages fires only a day before SQS deletes one. If this
 * stops half-way, call it again.
 * @returns false if it was interrupted
 * @throws CommandError if there is no such event, or it is already paused
 */
export async function pause(operation: Operation, name: string, reason: string): Promise<boolean> {
  const { stack, printLine } = operation;
  const event = eventOf(stack, name);
  const state = await settled(operation, event, UNCHANGED);
  if (state === undefined) return false;
  const before = state.pause;
  const isReported = before?.since !== undefined;
  if (isReported && !before.running && isPatient(state.waiting)) {
    throw new CommandError(`${event} is already paused, ${described(before)}`);
  }

  const undo = stack.command(event, 'resume');
  const by = await stack.caller();
  // The event source is turned off first, because an alarm must not report a pause that AWS rejected.
  await turn(stack, state, 'Disabled');
  try {
    // An alarm notifies only when its state changes. An alarm left over from an earlier pause would not notify.
    if (isReported) await set(stack, state.paused, 'OK', 'Paused again');
    await set(stack, state.paused, 'ALARM', `Paused by ${by}: ${reason}`);
    if ((await settled(operation, event, `${REPEAT}: ${undo}`)) === undefined) return false;
    // The threshold changes last: until an alarm reports the pause, the alarm on age must keep its normal threshold.
    await ringAt(stack, state.waiting, thresholdInPause);
  } catch (error) {
    throw incomplete(error, `The event source of ${event} is off, but its alarms are not set yet`);
  }
  printLine(`Paused. Nothing processes ${event} in ${stack.title}. New events wait on its queue.`);
  const { visible, inFlight, retention } = state.queue;
  printLine(
    `SQS deletes an event ${duration(retention * 1000)} after its arrival. An alarm fires a day before. ${messages(visible + inFlight)} had arrived before.`,
  );
  printLine(`Resume: ${undo}`);
  operation.report?.({ stack: stack.title, event, by, reason, waiting: visible, resume: undo });
  return true;
}

/**
 * Turns on the event source of a paused event, and resets both alarms. The alarm on age fires again if messages still
 * wait too long. If this stops half-way, call it again.
 * @returns false if it was interrupted
 * @throws CommandError if there is no such event, or it is not paused
 */
export async function resume(operation: Operation, name: string): Promise<boolean> {
  const { stack, printLine } = operation;
  const event = eventOf(stack, name);
  const state = await settled(operation, event, UNCHANGED);
  if (state === undefined) return false;
  const before = state.pause;
  if (before === undefined && !isPatient(state.waiting)) {
    throw new CommandError(`${event} is not paused in ${stack.title}`);
  }

  const by = await stack.caller();
  await turn(stack, state, 'Enabled');
  try {
    const undo = stack.command(`${event} --reason "…"`, 'pause');
    if ((await settled(operation, event, `${REPEAT}: ${undo}`)) === undefined) return false;
    await ringAt(stack, state.waiting, threshold);
    // Otherwise an alarm that fired during the pause would not notify again of messages that still wait.
    const { waiting } = await pauseState(stack, event);
    if (waiting.StateValue === 'ALARM') await set(stack, waiting, 'OK', `Resumed by ${by}`);
    await set(stack, state.paused, 'OK', `Resumed by ${by}`);
  } catch (error) {
    throw incomplete(error, `The event source of ${event} is on, but its alarms are not reset yet`);
  }
  const { visible } = state.queue;
  const waited =
    visible === 0 ? 'Nothing waited.' : `About ${messages(visible)} waited and will be processed now.`;
  printLine(`Resumed ${event} in ${stack.title}. ${waited}`);
  if (before?.since !== undefined) printLine(`It was paused ${described(before)}`);
  operation.report?.({ stack: stack.title, event, by, waited: visible });
  return true;
}

type PauseState = Awaited<ReturnType<typeof pauseState>>;

/**
 * The resources that a pause changes: the event source, and the alarms for the pause and for messages that wait too
 * long. `source` is `Enabled`, `Disabled` or a state in between, such as `Disabling`.
 * @throws MissingOutputError or CommandError if the stage lacks one of them
 */
export async function pauseState(stage: Stage, event: EventName) {
  const { uuid, paused, waiting, ...state } = await stateOf(stage, event, await alarmsOf(stage, [event]));
  if (uuid && paused && waiting) return { ...state, uuid, paused, waiting };
  const missing = uuid === undefined ? 'event source' : 'alarm';
  throw new CommandError(`The ${missing} of ${event} no longer exists: deploy ${stage.title} again`);
}

/** Every paused event of the stage, including those whose event source somebody turned off directly. */
export async function pausesOf(stage: Stage): Promise<Pause[]> {
  const alarms = await alarmsOf(stage, stage.events);
  const states = await Promise.all(stage.events.map((event) => stateOf(stage, event, alarms)));
  return states.flatMap(({ pause }) => pause ?? []);
}

/** Maximum number of alarms per DescribeAlarms call. Source: CloudWatch API reference. */
const MAX_ALARMS = 100;

/** Both alarms of each event, in one call, because AWS allows few calls a second. */
async function alarmsOf(stage: Stage, events: readonly EventName[]): Promise<readonly MetricAlarm[]> {
  const AlarmNames = events.flatMap((event) => [
    stage.ofEvent(event, 'PausedAlarm'),
    stage.ofEvent(event, 'WaitingAlarm'),
  ]);
  const command = new DescribeAlarmsCommand({ AlarmNames, MaxRecords: MAX_ALARMS });
  return (await stage.cloudwatch.send(command)).MetricAlarms ?? [];
}

/** @returns `pause`: undefined if the event is not paused */
async function stateOf(stage: Stage, event: EventName, alarms: readonly MetricAlarm[]) {
  const queue = await queueState(stage.sqs, stage.ofEvent(event, 'QueueUrl'));
  const sources = new ListEventSourceMappingsCommand({ EventSourceArn: queue.arn });
  const { EventSourceMappings: [{ UUID: uuid, State: source = '' } = {}] = [] } =
    await stage.lambda.send(sources);
  const paused = alarms.find(({ AlarmName }) => AlarmName === stage.ofEvent(event, 'PausedAlarm'));
  const waiting = alarms.find(({ AlarmName }) => AlarmName === stage.ofEvent(event, 'WaitingAlarm'));
  const running = source !== 'Disabled' && source !== 'Disabling';
  const turningOff = source === 'Disabling' ? true : undefined;
  const fired = paused?.StateValue === 'ALARM' ? paused : undefined;
  const [, by, reason] = PAUSED.exec(fired?.StateReason ?? '') ?? [];
  const since = fired?.StateTransitionedTimestamp ?? fired?.StateUpdatedTimestamp;
  const pause: Pause = { event, waiting: queue.visible, by, reason, since, running, turningOff };
  return { queue, uuid, source, paused, waiting, pause: running && !fired ? undefined : pause };
}

/**
 * Waits until the event source is on or off, and prints its state meanwhile.
 * @param ifInterrupted printed if Ctrl-C ends the wait
 * @returns undefined if Ctrl-C ended the wait
 */
async function settled(
  { stack, signal, printLine }: Operation,
  event: EventName,
  ifInterrupted: string,
): Promise<PauseState | undefined> {
  let shown: string | undefined;
  for (;;) {
    const state = await pauseState(stack, event);
    if (state.source === 'Enabled' || state.source === 'Disabled') return state;
    if (state.source !== shown) printLine(`The event source of ${event}: ${state.source} …`);
    shown = state.source;
    await sleep(stack.pollMilliseconds, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
  }
  printLine(ifInterrupted);
  return undefined;
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
  { AlarmName }: MetricAlarm,
  StateValue: 'OK' | 'ALARM',
  StateReason: string,
): Promise<void> {
  await cloudwatch.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason }));
}

/** Whether the alarm on age has the threshold of a pause. */
const isPatient = ({ Threshold = 0 }: MetricAlarm): boolean => Threshold >= thresholdInPause;

/**
 * Changes the threshold of the alarm on age. PutMetricAlarm replaces all settings, so all are passed. The client leaves
 * out what is no setting, such as the alarm's state.
 */
async function ringAt({ cloudwatch }: Stage, waiting: MetricAlarm, Threshold: number): Promise<void> {
  const { AlarmName, EvaluationPeriods, ComparisonOperator } = waiting;
  const required = { AlarmName, EvaluationPeriods, ComparisonOperator };
  await cloudwatch.send(new PutMetricAlarmCommand({ ...waiting, ...required, Threshold }));
}

/** `since 2026-01-31T09:00:00.000Z, by …: …`. */
function described({ since, by = 'an unknown person', reason = '' }: Pause): string {
  return `since ${since?.toISOString()}, by ${by}: ${printable(reason)}`;
}

function incomplete(error: unknown, what: string): CommandError {
  const { name, message } = error as Error;
  return new CommandError(`${what}: ${name}: ${message.split('\n')[0]}. Repeat the command to complete it`);
}
