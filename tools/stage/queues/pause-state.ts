import { DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import {
  type EventSourceMappingConfiguration,
  ListEventSourceMappingsCommand,
  paginateListEventSourceMappings,
} from '@aws-sdk/client-lambda';
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

/** Maximum number of alarms per DescribeAlarms call. Source: CloudWatch API reference. */
const MAX_ALARMS = 100;

/** The state reason of the alarm. Its mail shows this text. */
export const pauseText = (by: string, reason: string) => `Paused by ${by}: ${reason}`;

const PAUSED = /^Paused by (\S+): (.*)$/s;

/**
 * The resources that a pause changes: the event source, and the alarms for the pause and for messages that wait too
 * long. `source` is `Enabled`, `Disabled` or a state in between, such as `Disabling`.
 * @throws MissingOutputError or CommandError if the stage lacks one of them
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

/** Every paused event of the stage, including those whose event source somebody turned off directly. */
export async function pausesOf(stage: Stage): Promise<Pause[]> {
  const AlarmNames = stage.events.map((event) => stage.event(event).pausedAlarm);
  const [sources, { MetricAlarms = [] }] = await Promise.all([
    eventSources(stage),
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

/** All event sources that may be listed, also those of other stacks. */
export async function eventSources({ lambda }: Stage): Promise<EventSourceMappingConfiguration[]> {
  const sources: EventSourceMappingConfiguration[] = [];
  const pages = paginateListEventSourceMappings({ client: lambda }, {});
  for await (const { EventSourceMappings = [] } of pages) sources.push(...EventSourceMappings);
  return sources;
}
