import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { eventNames, isEventName } from '../../../lambda/contract/catalogue.ts';
import { pascalCase } from '../../../lambda/contract/event-names.ts';
import { didYouMean } from '../../../lib/nearest.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { FoundStack } from '../stack.ts';

/** A queue on which messages wait for somebody to look: nothing consumes it. */
export interface WaitingQueue {
  /** On the command line: an event, `quarantine` or `unrouted`. */
  readonly name: string;
  readonly kind: 'dead-letter' | 'quarantine' | 'unrouted';
  /** In a sentence: `the dead-letter queue of shop.updated`. */
  readonly title: string;
  readonly url: string;
}

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
export function sourceQueueUrl({ outputs }: Pick<FoundStack, 'outputs'>, event: string): string | undefined {
  // Only names that exist: `shop_updated` would find the queue of `shop.updated`.
  return isEventName(event) ? outputs[`${pascalCase(event)}QueueUrl`] : undefined;
}

/** Every such queue of a stack. */
export function waitingQueues({ outputs }: Pick<FoundStack, 'outputs'>): WaitingQueue[] {
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

/** @throws CommandError where there is no such queue */
export function waitingQueue(stack: FoundStack, name: string): WaitingQueue {
  const queues = waitingQueues(stack);
  const queue = queues.find((candidate) => candidate.name === name);
  if (queue) return queue;
  const names = queues.map((candidate) => candidate.name);
  throw new CommandError(
    `No queue '${name}' in ${stack.title}.${didYouMean(name, names)} One of: ${names.join(', ')}`,
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
