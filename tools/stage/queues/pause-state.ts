import { DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import {
  type EventSourceMappingConfiguration,
  ListEventSourceMappingsCommand,
  paginateListEventSourceMappings,
} from '@aws-sdk/client-lambda';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { printable } from '../../terminal/text.ts';
import type { Stage } from '../stage.ts';
import { type QueueState, queueState } from './queue.ts';

/**
 * Characters of a reason. An alarm takes 1,023, and who paused stands before it: an ARN of some 600 at most. Source:
 * CloudWatch API reference, "SetAlarmState"; IAM user guide, "IAM and AWS STS quotas".
 */
export const LONGEST_REASON = 400;

/** Whether a text can be a reason: one line that a terminal and a mail show as it is. */
export function isReason(text: string): boolean {
  return (
    text.trim() !== '' &&
    text.length <= LONGEST_REASON &&
    !/\s/.test(text.replaceAll(' ', '')) &&
    printable(text) === text
  );
}

/** What pausing an event changes. */
export interface PauseState {
  readonly queue: QueueState;
  /** Of the event source. */
  readonly uuid: string;
  /** Of the event source: `Enabled`, `Disabled`, or a state between them, such as `Disabling`. */
  readonly source: string;
  /** The alarm that says that the event is paused. */
  readonly paused: MetricAlarm;
  /** The alarm on the age of what waits, which in a pause rings only before something is lost. */
  readonly waiting: MetricAlarm;
}

/** A pause, as people read it. */
export interface Pause {
  readonly event: EventName;
  /** Messages on its queue, without those that back off. */
  readonly waiting: number;
  /** ARN of the person who paused it; absent if the event source was turned off without `npm run pause`. */
  readonly by?: string;
  readonly reason?: string;
  readonly since?: Date;
  /** Whether the event source is nevertheless on. */
  readonly running: boolean;
  /** It is being turned off: what it receives until then is processed. */
  readonly turningOff?: true;
}

/** Alarms that DescribeAlarms gives at a time at most. Source: CloudWatch API reference. */
const MOST_ALARMS = 100;

/** The reason of the alarm's state: what its mail says of a pause. */
export const pauseText = (by: string, reason: string) => `Paused by ${by}: ${reason}`;

const PAUSED = /^Paused by (\S+): (.*)$/s;

/** @throws MissingOutputError or CommandError if the stage lacks what a pause needs */
export async function pauseState(stage: Stage, event: EventName): Promise<PauseState> {
  const { queueUrl, pausedAlarm, waitingAlarm } = stage.event(event);
  const queue = await queueState(stage.sqs, queueUrl);
  const AlarmNames = [pausedAlarm, waitingAlarm];
  const [{ EventSourceMappings: [mapping] = [] }, { MetricAlarms = [] }] = await Promise.all([
    stage.lambda.send(new ListEventSourceMappingsCommand({ EventSourceArn: queue.arn })),
    stage.cloudwatch.send(new DescribeAlarmsCommand({ AlarmNames })),
  ]);
  const [paused, waiting] = AlarmNames.map((name) =>
    MetricAlarms.find(({ AlarmName }) => AlarmName === name),
  );
  if (mapping?.UUID === undefined || paused === undefined || waiting === undefined) {
    const missing = mapping === undefined ? 'event source' : 'alarm';
    throw new CommandError(`The ${missing} of ${event} no longer exists: deploy ${stage.title} again`);
  }
  return { queue, uuid: mapping.UUID, source: mapping.State ?? '', paused, waiting };
}

/** @returns undefined if the event is not paused */
export function pauseOf(
  event: EventName,
  { visible: waiting }: QueueState,
  source: string,
  alarm: MetricAlarm | undefined,
): Pause | undefined {
  const isOff = source === 'Disabled' || source === 'Disabling';
  const isSaid = alarm?.StateValue === 'ALARM';
  if (!isOff && !isSaid) return undefined;
  const [, by, reason] = isSaid ? (PAUSED.exec(alarm.StateReason ?? '') ?? []) : [];
  const since = isSaid ? (alarm.StateTransitionedTimestamp ?? alarm.StateUpdatedTimestamp) : undefined;
  return {
    event,
    waiting,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
    ...(since !== undefined && { since }),
    running: !isOff,
    ...(source === 'Disabling' && { turningOff: true }),
  };
}

/** Every event of the stage that is paused, or whose event source somebody has turned off. */
export async function pausesOf(stage: Stage): Promise<Pause[]> {
  const AlarmNames = stage.events.map((event) => stage.event(event).pausedAlarm);
  const [sources, { MetricAlarms = [] }] = await Promise.all([
    sourcesOf(stage),
    stage.cloudwatch.send(
      new DescribeAlarmsCommand({ AlarmNames, StateValue: 'ALARM', MaxRecords: MOST_ALARMS }),
    ),
  ]);
  const found = await Promise.all(
    stage.events.map(async (event) => {
      const { queueUrl, pausedAlarm } = stage.event(event);
      const queue = await queueState(stage.sqs, queueUrl);
      const source = sources.find(({ EventSourceArn }) => EventSourceArn === queue.arn);
      const alarm = MetricAlarms.find(({ AlarmName }) => AlarmName === pausedAlarm);
      return pauseOf(event, queue, source?.State ?? '', alarm);
    }),
  );
  return found.filter((pause) => pause !== undefined);
}

async function sourcesOf({ lambda }: Stage): Promise<EventSourceMappingConfiguration[]> {
  const sources: EventSourceMappingConfiguration[] = [];
  const pages = paginateListEventSourceMappings({ client: lambda }, {});
  for await (const { EventSourceMappings = [] } of pages) sources.push(...EventSourceMappings);
  return sources;
}
