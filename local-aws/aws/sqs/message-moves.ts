import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsError } from '../errors.ts';
import { isJsonObject, type JsonObject, objectsOf, parseJsonObject, textOf, textsOf } from '../json.ts';
import { arnOf, type Operations } from '../services.ts';

/** Calls an operation of SQS, with parameters as in its JSON protocol. */
type SqsCall = (operation: string, parameters: JsonObject) => Promise<JsonObject>;

interface MoveTask {
  id: string;
  sourceArn: string;
  /** ARN of the destination. Undefined if messages go back to their source queues. */
  destinationArn: string | undefined;
  maxPerSecond: number | undefined;
  status: 'RUNNING' | 'COMPLETED' | 'CANCELLING' | 'CANCELLED' | 'FAILED';
  failureReason: string | undefined;
  moved: number;
  toMove: number;
  /** Epoch milliseconds. */
  startedAt: number;
}

/** Maximum messages a second that a move may have. Source: SQS API reference, `StartMessageMoveTask`. */
const MAX_PER_SECOND = 500;

/** Maximum messages of one receive. Source: SQS API reference, `ReceiveMessage`. */
const MAX_BATCH = 10;

/** The redrive operations of SQS, which fauxqs lacks, built from the operations that it has. */
export class MessageMoves {
  readonly operations: Operations;
  readonly #sqs: SqsCall;
  readonly #tasks: MoveTask[] = [];

  constructor(sqs: SqsCall) {
    this.#sqs = sqs;
    this.operations = {
      StartMessageMoveTask: (parameters) => this.#start(parameters),
      ListMessageMoveTasks: (parameters) => this.#list(parameters),
      CancelMessageMoveTask: (parameters) => this.#cancel(parameters),
      ListDeadLetterSourceQueues: async (parameters) => {
        const name = textOf(parameters, 'QueueUrl')?.split('/').at(-1);
        // SQS writes the name of this field with a small first letter, unlike the names of all other fields.
        return { queueUrls: await this.#sourcesOf(arnOf('sqs', String(name))) };
      },
    };
  }

  close(): void {
    for (const task of this.#tasks) if (task.status === 'RUNNING') task.status = 'CANCELLING';
  }

  async #start(parameters: JsonObject): Promise<JsonObject> {
    const sourceArn = textOf(parameters, 'SourceArn') ?? '';
    const destinationArn = textOf(parameters, 'DestinationArn');
    const maxPerSecond = maxPerSecondOf(parameters);
    if (this.#tasks.some((task) => task.sourceArn === sourceArn && task.status === 'RUNNING')) {
      throw unsupported(
        'There is already a task running. Only one active task is allowed for a source queue arn at a given time.',
      );
    }
    const sourceUrl = await this.#urlOf(sourceArn);
    const destinationUrl = await this.#destinationOf(sourceArn, destinationArn);
    const task: MoveTask = {
      id: randomUUID(),
      sourceArn,
      destinationArn,
      maxPerSecond,
      status: 'RUNNING',
      failureReason: undefined,
      moved: 0,
      toMove: Number((await this.#attributesOf(sourceUrl)).ApproximateNumberOfMessages ?? 0),
      startedAt: Date.now(),
    };
    this.#tasks.unshift(task);
    void this.#run(task, sourceUrl, destinationUrl);
    return { TaskHandle: taskHandle(task.id, sourceArn) };
  }

  /** URL of the queue that gets the messages of a dead-letter queue: the given one, or the source queue. */
  async #destinationOf(sourceArn: string, destinationArn: string | undefined): Promise<string> {
    const sources = await this.#sourcesOf(sourceArn);
    const [only, another] = sources;
    if (only === undefined) {
      throw new AwsError('InvalidParameterValue', 'Source queue must be configured as a Dead Letter Queue.');
    }
    if (destinationArn !== undefined) return this.#urlOf(destinationArn);
    if (another === undefined) return only;
    throw unsupported(
      `${sourceArn} is the dead-letter queue of ${sources.length} queues: name a DestinationArn, because the local AWS endpoint does not know the source of each message.`,
    );
  }

  async #run(task: MoveTask, sourceUrl: string, destinationUrl: string): Promise<void> {
    try {
      await this.#moveAll(task, sourceUrl, destinationUrl);
      task.status = task.status === 'RUNNING' ? 'COMPLETED' : 'CANCELLED';
    } catch (error) {
      task.status = 'FAILED';
      task.failureReason = error instanceof AwsError ? error.code : String(error);
    }
  }

  /** Moves as many messages as the queue had at the start. Messages that fail again during the move stay. */
  async #moveAll(task: MoveTask, sourceUrl: string, destinationUrl: string): Promise<void> {
    const { maxPerSecond = Number.POSITIVE_INFINITY } = task;
    while (task.status === 'RUNNING' && task.moved < task.toMove) {
      const received = await this.#sqs('ReceiveMessage', {
        QueueUrl: sourceUrl,
        MaxNumberOfMessages: Math.min(maxPerSecond, MAX_BATCH, task.toMove - task.moved),
        WaitTimeSeconds: 0,
        MessageAttributeNames: ['All'],
      });
      const messages = objectsOf(received, 'Messages');
      if (messages.length === 0) return;
      for (const message of messages) await this.#move(message, sourceUrl, destinationUrl);
      task.moved += messages.length;
      await delay((messages.length / maxPerSecond) * 1000);
    }
  }

  async #move(message: JsonObject, sourceUrl: string, destinationUrl: string): Promise<void> {
    await this.#sqs('SendMessage', {
      QueueUrl: destinationUrl,
      MessageBody: message.Body,
      MessageAttributes: message.MessageAttributes,
    });
    await this.#sqs('DeleteMessage', { QueueUrl: sourceUrl, ReceiptHandle: message.ReceiptHandle });
  }

  #list(parameters: JsonObject): JsonObject {
    const sourceArn = textOf(parameters, 'SourceArn');
    const ofSource = this.#tasks.filter((task) => task.sourceArn === sourceArn);
    return { Results: ofSource.slice(0, Number(parameters.MaxResults ?? 1)).map(describe) };
  }

  #cancel(parameters: JsonObject): JsonObject {
    const handle = textOf(parameters, 'TaskHandle') ?? '';
    const task = this.#tasks.find(({ id, sourceArn }) => taskHandle(id, sourceArn) === handle);
    if (task === undefined) {
      throw notFound('The task handle does not name a message movement task.');
    }
    if (task.status !== 'RUNNING') {
      throw unsupported(`Only active tasks can be cancelled; this one is ${task.status}.`);
    }
    task.status = 'CANCELLING';
    return { ApproximateNumberOfMessagesMoved: task.moved };
  }

  async #attributesOf(queueUrl: string): Promise<JsonObject> {
    const wanted = { QueueUrl: queueUrl, AttributeNames: ['All'] };
    const { Attributes } = await this.#sqs('GetQueueAttributes', wanted);
    return isJsonObject(Attributes) ? Attributes : {};
  }

  /** URLs of the queues whose redrive policy refers to a dead-letter queue. */
  async #sourcesOf(deadLetterArn: string): Promise<string[]> {
    const urls = textsOf(await this.#sqs('ListQueues', {}), 'QueueUrls') ?? [];
    const sources = await Promise.all(
      urls.map(async (url) => {
        const policy = parseJsonObject(textOf(await this.#attributesOf(url), 'RedrivePolicy') ?? '');
        return policy?.deadLetterTargetArn === deadLetterArn ? [url] : [];
      }),
    );
    return sources.flat();
  }

  async #urlOf(arn: string): Promise<string> {
    const name = arn.split(':').at(-1) ?? '';
    try {
      return textOf(await this.#sqs('GetQueueUrl', { QueueName: name }), 'QueueUrl') ?? '';
    } catch {
      throw notFound(`The resource that you specified for ${arn} doesn't exist.`);
    }
  }
}

/** @returns undefined if the task has no rate limit */
function maxPerSecondOf({ MaxNumberOfMessagesPerSecond: given }: JsonObject): number | undefined {
  const rate = Number(given ?? 1);
  if (rate >= 1 && rate <= MAX_PER_SECOND) return given === undefined ? undefined : rate;
  throw new AwsError(
    'InvalidParameterValue',
    `Value ${given} for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: must be between 1 and ${MAX_PER_SECOND}.`,
  );
}

function notFound(message: string): AwsError {
  return new AwsError('ResourceNotFoundException', message, { status: 404 });
}

function unsupported(message: string): AwsError {
  return new AwsError('UnsupportedOperation', message);
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

/** Task handles contain the task's id, and the ARN of its source queue, on which IAM checks permissions. */
function taskHandle(taskId: string, sourceArn: string): string {
  return Buffer.from(JSON.stringify([taskId, sourceArn])).toString('base64');
}

/** @returns the ARN of the task's source queue; undefined if the task handle is invalid */
export function sourceOfTaskHandle(handle: string): string | undefined {
  const parts = /^\["[^"]*","(arn:[^"]*)"\]$/.exec(Buffer.from(handle, 'base64').toString());
  return parts?.[1];
}
