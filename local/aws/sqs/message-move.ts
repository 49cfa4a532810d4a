import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsError } from '../aws-error.ts';
import { type JsonObject, objectsOf, parseJsonObject, textOf, textsOf } from '../json.ts';
import { taskHandle } from './message-move-handle.ts';
import type { SqsCall } from './sqs-call.ts';

interface MoveTask {
  id: string;
  sourceArn: string;
  /** Absent where messages go back to the queues that they came from. */
  destinationArn: string | undefined;
  maxPerSecond: number | undefined;
  status: 'RUNNING' | 'COMPLETED' | 'CANCELLING' | 'CANCELLED' | 'FAILED';
  failureReason: string | undefined;
  moved: number;
  toMove: number;
  /** Epoch milliseconds. */
  startedAt: number;
}

/** Moves of messages out of dead-letter queues, and who their sources are. */
export interface MessageMoves {
  /** @returns undefined for an operation that is not one of these */
  answer(operation: string, parameters: JsonObject): Promise<JsonObject | undefined>;
  close(): void;
}

/** SQS's highest rate. */
const MAX_PER_SECOND = 500;
const BATCH = 10;

/** The redrive operations of SQS, which fauxqs does not have, in terms of those that it has. */
export function createMessageMoves(sqs: SqsCall, region: string): MessageMoves {
  const tasks: MoveTask[] = [];

  async function attributesOf(queueUrl: string): Promise<JsonObject> {
    const { Attributes } = await sqs('GetQueueAttributes', { QueueUrl: queueUrl, AttributeNames: ['All'] });
    return typeof Attributes === 'object' && !Array.isArray(Attributes) ? (Attributes ?? {}) : {};
  }

  /** Addresses of the queues whose redrive policy names this dead-letter queue. */
  async function sourcesOf(deadLetterArn: string): Promise<string[]> {
    const urls = textsOf(await sqs('ListQueues', {}), 'QueueUrls') ?? [];
    const sources = await Promise.all(
      urls.map(async (url) => {
        const policy = parseJsonObject(textOf(await attributesOf(url), 'RedrivePolicy') ?? '');
        return policy?.deadLetterTargetArn === deadLetterArn ? [url] : [];
      }),
    );
    return sources.flat();
  }

  async function urlOf(arn: string): Promise<string> {
    const name = arn.split(':').at(-1) ?? '';
    try {
      return textOf(await sqs('GetQueueUrl', { QueueName: name }), 'QueueUrl') ?? '';
    } catch {
      throw new AwsError(
        'ResourceNotFoundException',
        `The resource that you specified for ${arn} doesn't exist.`,
        {
          status: 404,
        },
      );
    }
  }

  async function start(parameters: JsonObject): Promise<JsonObject> {
    const sourceArn = textOf(parameters, 'SourceArn') ?? '';
    const destinationArn = textOf(parameters, 'DestinationArn');
    const maxPerSecond = parameters.MaxNumberOfMessagesPerSecond;
    if (
      maxPerSecond !== undefined &&
      !(Number(maxPerSecond) >= 1 && Number(maxPerSecond) <= MAX_PER_SECOND)
    ) {
      throw new AwsError(
        'InvalidParameterValue',
        `Value ${maxPerSecond} for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: must be between 1 and ${MAX_PER_SECOND}.`,
      );
    }
    if (tasks.some((task) => task.sourceArn === sourceArn && task.status === 'RUNNING')) {
      throw new AwsError(
        'UnsupportedOperation',
        'There is already a task running. Only one active task is allowed for a source queue arn at a given time.',
      );
    }
    const sourceUrl = await urlOf(sourceArn);
    const sources = await sourcesOf(sourceArn);
    if (sources.length === 0) {
      throw new AwsError('InvalidParameterValue', 'Source queue must be configured as a Dead Letter Queue.');
    }
    const destinationUrl = destinationArn === undefined ? sources[0] : await urlOf(destinationArn);
    if (destinationUrl === undefined || (destinationArn === undefined && sources.length > 1)) {
      throw new AwsError(
        'UnsupportedOperation',
        `${sourceArn} is the dead-letter queue of ${sources.length} queues: name a DestinationArn, for the local AWS endpoint does not know which message came from which.`,
      );
    }
    const task: MoveTask = {
      id: randomUUID(),
      sourceArn,
      destinationArn,
      maxPerSecond: maxPerSecond === undefined ? undefined : Number(maxPerSecond),
      status: 'RUNNING',
      failureReason: undefined,
      moved: 0,
      toMove: Number((await attributesOf(sourceUrl)).ApproximateNumberOfMessages ?? 0),
      startedAt: Date.now(),
    };
    tasks.unshift(task);
    void run(task, sourceUrl, destinationUrl);
    return { TaskHandle: taskHandle(task.id, sourceArn) };
  }

  /** Moves as many messages as were there at the start, so that what comes back meanwhile stays. */
  async function run(task: MoveTask, sourceUrl: string, destinationUrl: string): Promise<void> {
    const batch = Math.min(task.maxPerSecond ?? BATCH, BATCH);
    try {
      while (task.status === 'RUNNING' && task.moved < task.toMove) {
        const received = await sqs('ReceiveMessage', {
          QueueUrl: sourceUrl,
          MaxNumberOfMessages: Math.min(batch, task.toMove - task.moved),
          WaitTimeSeconds: 0,
          MessageAttributeNames: ['All'],
        });
        const messages = objectsOf(received, 'Messages');
        if (messages.length === 0) break;
        for (const message of messages) await move(message, sourceUrl, destinationUrl);
        task.moved += messages.length;
        if (task.maxPerSecond !== undefined) await delay((messages.length / task.maxPerSecond) * 1000);
      }
      task.status = task.status === 'RUNNING' ? 'COMPLETED' : 'CANCELLED';
    } catch (error) {
      task.status = 'FAILED';
      task.failureReason = error instanceof AwsError ? error.code : String(error);
    }
  }

  async function move(message: JsonObject, sourceUrl: string, destinationUrl: string): Promise<void> {
    await sqs('SendMessage', {
      QueueUrl: destinationUrl,
      MessageBody: message.Body,
      MessageAttributes: message.MessageAttributes,
    });
    await sqs('DeleteMessage', { QueueUrl: sourceUrl, ReceiptHandle: message.ReceiptHandle });
  }

  function list(parameters: JsonObject): JsonObject {
    const sourceArn = textOf(parameters, 'SourceArn');
    const ofSource = tasks.filter((task) => task.sourceArn === sourceArn);
    return { Results: ofSource.slice(0, Number(parameters.MaxResults ?? 1)).map(describe) };
  }

  function cancel(parameters: JsonObject): JsonObject {
    const handle = textOf(parameters, 'TaskHandle') ?? '';
    const task = tasks.find(({ id, sourceArn }) => taskHandle(id, sourceArn) === handle);
    if (task === undefined) {
      throw new AwsError(
        'ResourceNotFoundException',
        'The task handle does not name a message movement task.',
        {
          status: 404,
        },
      );
    }
    if (task.status !== 'RUNNING') {
      throw new AwsError(
        'UnsupportedOperation',
        `Only active tasks can be cancelled; this one is ${task.status}.`,
      );
    }
    task.status = 'CANCELLING';
    return { ApproximateNumberOfMessagesMoved: task.moved };
  }

  return {
    async answer(operation, parameters) {
      switch (operation) {
        case 'StartMessageMoveTask':
          return start(parameters);
        case 'ListMessageMoveTasks':
          return list(parameters);
        case 'CancelMessageMoveTask':
          return cancel(parameters);
        case 'ListDeadLetterSourceQueues': {
          const name = textOf(parameters, 'QueueUrl')?.split('/').at(-1);
          // The real operation spells its result with a small letter.
          return { queueUrls: await sourcesOf(`arn:aws:sqs:${region}:000000000000:${name}`) };
        }
        default:
          return undefined;
      }
    },
    close() {
      for (const task of tasks) if (task.status === 'RUNNING') task.status = 'CANCELLING';
    },
  };
}

function describe(task: MoveTask): JsonObject {
  return {
    ...(task.status === 'RUNNING' && { TaskHandle: taskHandle(task.id, task.sourceArn) }),
    Status: task.status,
    SourceArn: task.sourceArn,
    DestinationArn: task.destinationArn,
    MaxNumberOfMessagesPerSecond: task.maxPerSecond,
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.toMove,
    FailureReason: task.failureReason,
    StartedTimestamp: task.startedAt,
  };
}
