import { GetQueueAttributesCommand, paginateListQueues, type SQSClient } from '@aws-sdk/client-sqs';
import { eventNames, isEventName } from '../../../lambda/contract/catalogue.ts';
import { pascalCase } from '../../../lambda/contract/event-names.ts';
import { didYouMean } from '../../../lib/nearest.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';

/** A queue on which messages wait for somebody to look: nothing consumes it. */
export interface WaitingQueue {
  /** On the command line: an event, `quarantine` or `unrouted`. */
  readonly name: string;
  readonly kind: 'dead-letter' | 'quarantine' | 'unrouted';
  /** In a sentence: `the dead-letter queue of shop.updated`. */
  readonly title: string;
  readonly url: string;
}

/** A queue that a removed event has left, or an earlier stack of the same name. In SQS the stack's name comes before its own. */
export interface RemovedQueue extends Omit<WaitingQueue, 'kind'> {
  readonly kind: 'removed';
}

export type AnyQueue = WaitingQueue | RemovedQueue;

export interface QueueState {
  readonly arn: string;
  /** Messages that can be received. SQS counts them approximately, and up to a minute late. */
  readonly visible: number;
  /** Messages that somebody has received and not deleted, or that are being moved. */
  readonly inFlight: number;
  /** How long SQS keeps a message, in seconds. */
  readonly retention: number;
}

/** @returns undefined where the stack has no consumer for the event */
export function sourceQueueUrl({ outputs }: Pick<Stage, 'outputs'>, event: string): string | undefined {
  // Only names that exist: `shop_updated` would find the queue of `shop.updated`.
  return isEventName(event) ? outputs[`${pascalCase(event)}QueueUrl`] : undefined;
}

/** Every such queue of a stack. */
export function waitingQueues({ outputs }: Pick<Stage, 'outputs'>): WaitingQueue[] {
  const all: WaitingQueue[] = [
    ...eventNames.map((name) => ({
      name,
      kind: 'dead-letter' as const,
      title: `the dead-letter queue of ${name}`,
      url: outputs[`${pascalCase(name)}DeadLetterQueueUrl`] ?? '',
    })),
    ...(['quarantine', 'unrouted'] as const).map((name) => ({
      name,
      kind: name,
      title: `the ${name} queue`,
      url: outputs[`${pascalCase(name)}QueueUrl`] ?? '',
    })),
  ];
  return all.filter(({ url }) => url !== '');
}

/** Queues that ListQueues gives at a time, at most. Without it, there is no second page. Source: SQS API reference. */
const PAGE = 1_000;

/** What follows the stack's name in a queue's: not `eu-ShopUpdatedQueue…`, which is of a stage `prod-eu`. */
const NAME_IN_STACK = /^[A-Za-z0-9]+(-[A-Za-z0-9]+)?$/;

const nameOf = (url: string) => url.split('/').at(-1) ?? '';

/**
 * Queues that nothing consumes, although they have the stack's name: what `prod` retains of a removed event. Also
 * dead-letter queues of events that are deployed, but not in this catalogue.
 * CloudFormation shortens names above 80 characters: a queue that has lost a part of the stack's name is not found.
 */
export async function removedQueues(stack: Pick<Stage, 'outputs' | 'sqs'>): Promise<RemovedQueue[]> {
  const consumed = Object.entries(stack.outputs)
    .filter(([output]) => output.endsWith('QueueUrl') && !output.endsWith('DeadLetterQueueUrl'))
    .map(([, url]) => url);
  const known = new Set([...consumed, ...waitingQueues(stack).map(({ url }) => url)].map(nameOf));
  const quarantine = nameOf(stack.outputs.QuarantineQueueUrl ?? '');
  const prefix = quarantine.slice(0, Math.max(0, quarantine.lastIndexOf('Quarantine')));
  if (prefix === '')
    throw new CommandError('The name of QuarantineQueueUrl does not begin with the name of the stack');
  const pages = paginateListQueues({ client: stack.sqs, pageSize: PAGE }, { QueueNamePrefix: prefix });
  const urls: string[] = [];
  for await (const { QueueUrls = [] } of pages) urls.push(...QueueUrls);
  return urls
    .filter((url) => !known.has(nameOf(url)))
    .map((url) => ({ name: nameOf(url).slice(prefix.length), url }))
    .filter(({ name }) => NAME_IN_STACK.test(name))
    .map(({ name, url }) => ({ name, kind: 'removed', title: `the queue ${name}`, url }));
}

/** Finds a queue by its name, also one that a removed event has left. @throws CommandError if there is none */
export async function findQueue(stack: Stage, name: string): Promise<AnyQueue> {
  const known = waitingQueues(stack);
  const queues = known.some((queue) => queue.name === name)
    ? known
    : [...known, ...(await removedQueues(stack))];
  return queueNamed(name, queues, stack);
}

/** @throws CommandError where there is no such queue */
export const waitingQueue = (stack: Stage, name: string): WaitingQueue =>
  queueNamed(name, waitingQueues(stack), stack);

function queueNamed<Queue extends AnyQueue>(name: string, queues: readonly Queue[], { title }: Stage): Queue {
  const queue = queues.find((candidate) => candidate.name === name);
  if (queue) return queue;
  const names = queues.map((candidate) => candidate.name);
  throw new CommandError(
    `No queue '${name}' in ${title}.${didYouMean(name, names)} One of: ${names.join(', ')}`,
  );
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
      ],
    }),
  );
  return {
    arn: Attributes.QueueArn ?? '',
    visible: Number(Attributes.ApproximateNumberOfMessages),
    inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
    retention: Number(Attributes.MessageRetentionPeriod),
  };
}
