import { DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import {
  type EventSourceMappingConfiguration,
  ListEventSourceMappingsCommand,
  paginateListEventSourceMappings,
} from '@aws-sdk/client-lambda';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';
import { printable } from '../../cli/terminal/text.ts';
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

/** A pause, as people read it. */
export interface Pause {
  readonly event: EventName;
  /** Messages on its queue, without those that back off. */
  readonly waiting: number;
  /** ARN of the person who paused it; absent if the event source was turned off without `npm run pause`. */
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  readonly since?: Date | undefined;
  /** Whether the event source is nevertheless on. */
  readonly running: boolean;
  /** It is being turned off: what it receives until then is processed. */
  readonly turningOff?: true | undefined;
}

/** Alarms that DescribeAlarms returns at a time. Source: CloudWatch API reference. */
const MAX_ALARMS = 100;

/** The reason of the alarm's state: what its mail says of a pause. */
export const pauseText = (by: string, reason: string) => `Paused by ${by}: ${reason}`;

const PAUSED = /^Paused by (\S+): (.*)$/s;

/**
 * What pausing an event changes: its event source, and the alarms that say that it is paused and that messages have
 * waited for long. `source` is `Enabled`, `Disabled` or a state between them, such as `Disabling`.
 * @throws MissingOutputError or CommandError if the stage lacks what a pause needs
 */
export async function pauseState(stage: Stage, event: EventName) {
  const { queueUrl, pausedAlarm, waitingAlarm } = stage.event(event);
  const queue = await queueState(stage.sqs, queueUrl);
  const [{ EventSourceMappings: [mapping] = [] }, { MetricAlarms = [] }] = await Promise.all([
    stage.lambda.send(new ListEventSourceMappingsCommand({ EventSourceArn: queue.arn })),
    stage.cloudwatch.send(new DescribeAlarmsCommand({ AlarmNames: [pausedAlarm, waitingAlarm] })),
  ]);
  const paused = MetricAlarms.find(({ AlarmName }) => AlarmName === pausedAlarm);
  const waiting = MetricAlarms.find(({ AlarmName }) => AlarmName === waitingAlarm);
  if (mapping?.UUID === undefined || paused === undefined || waiting === undefined) {
    const missing = mapping === undefined ? 'event source' : 'alarm';
    throw new CommandError(`The ${missing} of ${event} no longer exists: deploy ${stage.title} again`);
  }
  const { UUID: uuid, State: source = '' } = mapping;
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

/** Every event of the stage that is paused, or whose event source somebody has turned off. */
export async function pausesOf(stage: Stage): Promise<Pause[]> {
  const AlarmNames = stage.events.map((event) => stage.event(event).pausedAlarm);
  const [sources, { MetricAlarms = [] }] = await Promise.all([
    sourcesOf(stage),
    stage.cloudwatch.send(
      new DescribeAlarmsCommand({ AlarmNames, StateValue: 'ALARM', MaxRecords: MAX_ALARMS }),
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
