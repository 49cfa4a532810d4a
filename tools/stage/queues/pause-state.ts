import { DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import { ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';
import { type QueueState, queueState } from './queue.ts';

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

/** The state reason of the alarm. Its mail shows this text. */
export const pauseText = (by: string, reason: string) => `Paused by ${by}: ${reason}`;

const PAUSED = /^Paused by (\S+): (.*)$/s;

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

async function stateOf(stage: Stage, event: EventName, alarms: readonly MetricAlarm[]) {
  const queue = await queueState(stage.sqs, stage.ofEvent(event, 'QueueUrl'));
  const sources = new ListEventSourceMappingsCommand({ EventSourceArn: queue.arn });
  const { EventSourceMappings: [{ UUID: uuid, State: source = '' } = {}] = [] } =
    await stage.lambda.send(sources);
  const paused = alarms.find(({ AlarmName }) => AlarmName === stage.ofEvent(event, 'PausedAlarm'));
  const waiting = alarms.find(({ AlarmName }) => AlarmName === stage.ofEvent(event, 'WaitingAlarm'));
  return { queue, uuid, source, paused, waiting, pause: pauseOf(event, queue, source, paused) };
}

/** @returns undefined if the event is not paused */
function pauseOf(
  event: EventName,
  { visible: waiting }: QueueState,
  source: string,
  alarm: MetricAlarm | undefined,
): Pause | undefined {
  const running = source !== 'Disabled' && source !== 'Disabling';
  const turningOff = source === 'Disabling' ? true : undefined;
  if (alarm?.StateValue !== 'ALARM') return running ? undefined : { event, waiting, running, turningOff };
  const [, by, reason] = PAUSED.exec(alarm.StateReason ?? '') ?? [];
  const since = alarm.StateTransitionedTimestamp ?? alarm.StateUpdatedTimestamp;
  return { event, waiting, by, reason, since, running, turningOff };
}
