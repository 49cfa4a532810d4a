import { DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import { type EventSourceMappingConfiguration, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import { type EventName, eventNames, isEventName } from '../../../lambda/contract/catalogue.ts';
import { pascalCase } from '../../../lambda/contract/event-names.ts';
import { EXPIRING_SECONDS } from '../../../lib/age-of-waiting.ts';
import { didYouMean } from '../../../lib/nearest.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';
import { type QueueState, queueState } from './queue.ts';

/** What pausing an event turns. */
export interface PauseState {
  readonly queue: QueueState;
  /** Of the event source. */
  readonly uuid: string;
  /** Of the event source: `Enabled`, `Disabled`, or what is on the way there, such as `Disabling`. */
  readonly source: string;
  /** The alarm that says that the event is paused. */
  readonly paused: MetricAlarm;
  /** The alarm on the age of what waits, which in a pause rings only before something is lost. */
  readonly waiting: MetricAlarm;
}

/** A pause as people are told of it. */
export interface Pause {
  readonly event: EventName;
  /** Messages on its queue, those aside that back off. */
  readonly waiting: number;
  /** ARN of who paused it; absent where the event source is off and nobody has said why. */
  readonly by?: string;
  readonly reason?: string;
  readonly since?: Date;
  /** Whether the event source is on all the same. */
  readonly running: boolean;
  /** It is being turned off: what it receives until then is processed. */
  readonly turningOff?: true;
}

/** Alarms that DescribeAlarms gives at a time at most. Source: CloudWatch API reference. */
const MOST_ALARMS = 100;

const PAUSED = /^Paused by (\S+): (.*)$/s;

/** The reason of the alarm's state: what its mail says of a pause. */
export const pauseText = (by: string, reason: string) => `Paused by ${by}: ${reason}`;

/** @throws CommandError where the stack has no such event */
export function eventOf({ title, outputs }: Stage, name: string): EventName {
  const known = eventNames.filter((event) => outputs[`${pascalCase(event)}QueueUrl`] !== undefined);
  if (isEventName(name) && known.includes(name)) return name;
  throw new CommandError(
    `No event '${name}' in ${title}.${didYouMean(name, known)} One of: ${known.join(', ')}`,
  );
}

/** @throws CommandError where the stack lacks what a pause needs */
export async function pauseState(stack: Stage, event: EventName): Promise<PauseState> {
  const queue = await queueState(stack.sqs, output(stack, event, 'QueueUrl'));
  const names = [output(stack, event, 'PausedAlarm'), output(stack, event, 'WaitingAlarm')];
  const [{ EventSourceMappings: [mapping] = [] }, { MetricAlarms = [] }] = await Promise.all([
    stack.lambda.send(new ListEventSourceMappingsCommand({ EventSourceArn: queue.arn })),
    stack.cloudwatch.send(new DescribeAlarmsCommand({ AlarmNames: names })),
  ]);
  const [paused, waiting] = names.map((name) => MetricAlarms.find(({ AlarmName }) => AlarmName === name));
  if (mapping?.UUID === undefined || paused === undefined || waiting === undefined) {
    const missing = mapping === undefined ? 'event source' : 'alarm';
    throw new CommandError(`The ${missing} of ${event} is not there any more: deploy ${stack.title} again`);
  }
  return { queue, uuid: mapping.UUID, source: mapping.State ?? '', paused, waiting };
}

function output({ outputs }: Stage, event: EventName, name: string): string {
  const value = outputs[`${pascalCase(event)}${name}`];
  if (value !== undefined) return value;
  throw new CommandError(`The stack has no output ${pascalCase(event)}${name}: deploy it again`);
}

/** Whether the alarm on age lets a pause pass. */
export const isPatient = ({ Threshold = 0 }: MetricAlarm): boolean => Threshold >= EXPIRING_SECONDS;

/** @returns undefined where the event is not paused */
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

/** Every event of the stack that is paused, or whose event source somebody has turned off. */
export async function pausesOf(stack: Stage): Promise<Pause[]> {
  const [sources, alarms] = await Promise.all([sourcesOf(stack), pausedAlarmsOf(stack)]);
  const found = await Promise.all(
    eventNames.map(async (event) => {
      const url = stack.outputs[`${pascalCase(event)}QueueUrl`];
      if (url === undefined) return undefined;
      const queue = await queueState(stack.sqs, url);
      const source = sources.find(({ EventSourceArn }) => EventSourceArn === queue.arn);
      const name = stack.outputs[`${pascalCase(event)}PausedAlarm`];
      const alarm = alarms.find(({ AlarmName }) => AlarmName === name);
      return pauseOf(event, queue, source?.State ?? '', alarm);
    }),
  );
  return found.filter((pause) => pause !== undefined);
}

async function sourcesOf({ lambda }: Stage): Promise<EventSourceMappingConfiguration[]> {
  const found: EventSourceMappingConfiguration[] = [];
  let Marker: string | undefined;
  do {
    const page = await lambda.send(new ListEventSourceMappingsCommand({ Marker }));
    found.push(...(page.EventSourceMappings ?? []));
    Marker = page.NextMarker;
  } while (Marker !== undefined);
  return found;
}

async function pausedAlarmsOf({ cloudwatch, outputs }: Stage): Promise<MetricAlarm[]> {
  const AlarmNames = eventNames.flatMap((event) => outputs[`${pascalCase(event)}PausedAlarm`] ?? []);
  // Without names it would be all alarms of the account.
  if (AlarmNames.length === 0) return [];
  const { MetricAlarms = [] } = await cloudwatch.send(
    new DescribeAlarmsCommand({ AlarmNames, StateValue: 'ALARM', MaxRecords: MOST_ALARMS }),
  );
  return MetricAlarms;
}
