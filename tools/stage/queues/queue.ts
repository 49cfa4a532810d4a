import { GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import {
  GetQueueAttributesCommand,
  paginateListQueues,
  QueueDoesNotExist,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { pascalCase } from '../../../lambda/events/event-names.ts';
import { SMOKE_TEST_QUEUE } from '../../../lambda/receiver/request.ts';
import { didYouMean } from '../../../lib/did-you-mean.ts';
import { UsageError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';

/** A queue that nothing consumes: its messages wait for a person. */
export interface WaitingQueue {
  /** Name on the command line: an event, `quarantine` or `unrouted`. For `removed`, that in SQS without the stack's. */
  readonly name: string;
  /** `removed`: left over from a removed event, or from an earlier stack of the same name. */
  readonly kind: 'dead-letter' | 'quarantine' | 'unrouted' | 'removed';
  /** Name in a sentence: `the dead-letter queue of shop.updated`. */
  readonly title: string;
  readonly url: string;
}

/** A queue's attributes from SQS. Message counts are approximate, and up to a minute late. */
export interface QueueState {
  readonly arn: string;
  /** Messages that can be received. */
  readonly visible: number;
  /** Messages that somebody has received and not deleted, or that are being moved. */
  readonly inFlight: number;
  /** How long SQS keeps a message, in seconds. */
  readonly retention: number;
  /** Visibility timeout, in seconds. */
  readonly visibility: number;
}

export async function queueState(sqs: SQSClient, url: string): Promise<QueueState> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: [
        'QueueArn',
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'MessageRetentionPeriod',
        'VisibilityTimeout',
      ],
    }),
  );
  return {
    arn: Attributes.QueueArn ?? '',
    visible: Number(Attributes.ApproximateNumberOfMessages),
    inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
    retention: Number(Attributes.MessageRetentionPeriod),
    visibility: Number(Attributes.VisibilityTimeout),
  };
}

/** How far back to look, in milliseconds. AWS publishes metrics every minute, some minutes late. */
const METRIC_WINDOW = 15 * 60_000;

/** When the oldest message of a queue was sent, in epoch milliseconds. Undefined if CloudWatch does not know. */
export async function oldestMessage(
  { cloudwatch }: Pick<Stage, 'cloudwatch'>,
  queueArn: string,
): Promise<number | undefined> {
  const now = Date.now();
  const query = new GetMetricStatisticsCommand({
    Namespace: 'AWS/SQS',
    MetricName: 'ApproximateAgeOfOldestMessage',
    Dimensions: [{ Name: 'QueueName', Value: queueArn.split(':').at(-1) }],
    StartTime: new Date(now - METRIC_WINDOW),
    EndTime: new Date(now),
    Period: 60,
    Statistics: ['Maximum'],
  });
  const { Datapoints = [] } = await cloudwatch.send(query);
  const sent = Datapoints.map(({ Timestamp, Maximum = 0 }) => (Timestamp?.getTime() ?? now) - Maximum * 1000);
  return sent.length === 0 ? undefined : Math.min(...sent);
}

/** @returns undefined if the stage has no consumer for the event */
export function sourceQueueUrl(stage: Stage, event: string): string | undefined {
  const consumed = stage.events.find((known) => known === event);
  return consumed && stage.ofEvent(consumed, 'QueueUrl');
}

/** @throws CommandError if the stage has no such event */
export function eventOf(stage: Stage, name: string): EventName {
  const event = stage.events.find((known) => known === name);
  if (event !== undefined) return event;
  throw new UsageError(
    `No event '${name}' in ${stage.title}.${didYouMean(name, stage.events)} One of: ${stage.events.join(', ')}`,
  );
}

/** Every queue of a stage that nothing consumes. */
export function waitingQueues(stage: Stage): WaitingQueue[] {
  const deadLetters = stage.events.map((name): WaitingQueue => {
    const url = stage.ofEvent(name, 'DeadLetterQueueUrl');
    return { name, kind: 'dead-letter', title: `the dead-letter queue of ${name}`, url };
  });
  const ofReceiver = (['quarantine', 'unrouted'] as const).map((name): WaitingQueue => {
    const url = stage.output(`${pascalCase(name)}QueueUrl`);
    return { name, kind: name, title: `the ${name} queue`, url };
  });
  return [...deadLetters, ...ofReceiver];
}

/**
 * Finds a queue by its name, including the queue of a removed event.
 * @throws CommandError if no queue has it
 */
export async function findQueue(stage: Stage, name: string): Promise<WaitingQueue> {
  const queues = waitingQueues(stage);
  const find = () => queues.find((queue) => queue.name === name);
  if (find() === undefined) queues.push(...(await removedQueues(stage)));
  const found = find();
  if (found !== undefined) return found;
  const names = queues.map((queue) => queue.name);
  throw new UsageError(
    `No queue '${name}' in ${stage.title}.${didYouMean(name, names)} One of: ${names.join(', ')}`,
  );
}

/**
 * Maximum number of queues per ListQueues call. Without this parameter, SQS returns no second page. Source: SQS API
 * reference.
 */
const PAGE = 1_000;

/**
 * Matches the name of a queue after the name of the stack. Does not match `eu-ShopUpdatedQueue…`, which belongs to a
 * stage `prod-eu`.
 */
const NAME_IN_STACK = /^[A-Za-z0-9]+(-[A-Za-z0-9]+)?$/;

const nameOf = (url: string) => url.split('/').at(-1) ?? '';

/**
 * Queues with the stack's name that nothing consumes: `prod` retains them when an event is removed. Also dead-letter
 * queues of events that are deployed, but not in this catalogue. CloudFormation shortens names above 80 characters: a
 * queue that lost a part of the stack's name is not found.
 */
export async function removedQueues(stage: Stage): Promise<WaitingQueue[]> {
  const consumed = Object.entries(stage.outputs)
    .filter(([output]) => output.endsWith('QueueUrl') && !output.endsWith('DeadLetterQueueUrl'))
    .map(([, url]) => url);
  const known = new Set([...consumed, ...waitingQueues(stage).map(({ url }) => url)].map(nameOf));
  const prefix = `${stage.stackName}-`;
  const pages = paginateListQueues({ client: stage.sqs, pageSize: PAGE }, { QueueNamePrefix: prefix });
  const left = (await Array.fromAsync(pages))
    .flatMap(({ QueueUrls = [] }) => QueueUrls)
    .filter((url) => !known.has(nameOf(url)))
    .map((url) => ({ name: nameOf(url).slice(prefix.length), url }))
    .filter(({ name }) => NAME_IN_STACK.test(name) && !name.startsWith(SMOKE_TEST_QUEUE))
    .map(({ name, url }): WaitingQueue => ({ name, kind: 'removed', title: `the queue ${name}`, url }));
  const there = left.map(async (queue) => {
    // SQS still lists a queue for a minute after it was deleted.
    const state = await queueState(stage.sqs, queue.url).catch((error: unknown) => {
      if (!(error instanceof QueueDoesNotExist)) throw error;
    });
    return state === undefined ? [] : queue;
  });
  return (await Promise.all(there)).flat();
}
