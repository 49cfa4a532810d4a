import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { Queues } from '../../../../test/support/queues.ts';
import { startTestAws, type TestAws } from '../../../../test/support/test-aws.ts';
import { findStackOfFile } from '../../../stage/find-stage.ts';
import type { Operation } from '../../../stage/operation.ts';
import { type WaitingQueue, waitingQueues } from '../../../stage/queues/queue.ts';
import type { Stage } from '../../../stage/stage.ts';
import { CommandError } from '../../../terminal/command-error.ts';

/** Starts AWS without consumers, and an operator, for the tests of a file or block. */
export function startedOperator(): { readonly aws: TestAws; readonly operator: Operator } {
  const started = {} as { aws: TestAws; operator: Operator };
  beforeAll(async () => {
    started.aws = await startTestAws();
    started.operator = await Operator.create(started.aws);
  });
  afterAll(async () => {
    await started.operator.close();
    await started.aws.close();
  });
  return started;
}

/** An operator at a terminal: operations on a stack, and their output. */
export class Operator {
  readonly outputsFile: string;
  readonly stack: Stage;
  readonly outputs: Readonly<Record<string, string>>;
  readonly queues: Queues;
  readonly #folder: string;

  static async create({ outputs, operator }: Pick<TestAws, 'outputs' | 'operator'>): Promise<Operator> {
    const folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-dead-letters-'));
    const file = join(folder, 'outputs.json');
    await writeFile(file, JSON.stringify({ 'PartnerWebhooks-test': outputs }));
    return new Operator(folder, file, outputs, new Queues(operator));
  }

  constructor(folder: string, file: string, outputs: Readonly<Record<string, string>>, queues: Queues) {
    this.#folder = folder;
    this.outputsFile = file;
    this.outputs = outputs;
    this.queues = queues;
    this.stack = findStackOfFile(file).with({ pollMilliseconds: 20 });
  }

  /** A path that does not exist yet. */
  path(name: string): string {
    return join(this.#folder, name);
  }

  operation(
    signal = new AbortController().signal,
  ): Operation & { readonly said: string[]; readonly reported: object[] } {
    const said: string[] = [];
    const reported: object[] = [];
    const printLine = (line: string) => said.push(line);
    const progress = { show: () => {}, end: () => {} };
    const report = (result: object) => reported.push(result);
    const output = { printLine, report, progress, width: Number.POSITIVE_INFINITY };
    return { stack: this.stack, signal, ...output, said, reported };
  }

  queue(name: string): WaitingQueue {
    const queue = waitingQueues(this.stack).find((candidate) => candidate.name === name);
    if (queue === undefined) throw new Error(`No queue ${name}`);
    return queue;
  }

  /** Creates a queue whose event is not in the catalogue. @returns its URL */
  async leaveQueue(name: string): Promise<string> {
    const [stackName] = this.outputs.QuarantineQueueUrl?.split('/').at(-1)?.split('Quarantine') ?? [];
    const command = new CreateQueueCommand({ QueueName: `${stackName}${name}` });
    const { QueueUrl = '' } = await this.queues.client.send(command);
    return QueueUrl;
  }

  /** @returns the message's id */
  async put(
    url: string | undefined,
    body: string,
    attributes: Readonly<Record<string, string | Uint8Array>> = {},
  ): Promise<string> {
    const MessageAttributes = Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [
        name,
        typeof value === 'string'
          ? { DataType: 'String', StringValue: value }
          : { DataType: 'Binary', BinaryValue: value },
      ]),
    );
    const { MessageId = '' } = await this.queues.client.send(
      new SendMessageCommand({ QueueUrl: url, MessageBody: body, MessageAttributes }),
    );
    return MessageId;
  }

  /** Sends a message and receives it as somebody else would. @returns a function that deletes it */
  async receiveNew(QueueUrl: string | undefined): Promise<() => Promise<unknown>> {
    await this.put(QueueUrl, '{}');
    const receive = new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 600 });
    const { Messages: [message] = [] } = await this.queues.client.send(receive);
    const { ReceiptHandle } = message ?? {};
    return () => this.queues.client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  }

  /** Deletes everything that is visible on every queue. */
  async empty(): Promise<void> {
    const urls = Object.entries(this.outputs).filter(([name]) => name.endsWith('QueueUrl'));
    await Promise.all(urls.map(([, url]) => this.queues.takeAll(url)));
  }

  async close(): Promise<void> {
    this.stack.close();
    this.queues.client.destroy();
    await rm(this.#folder, { recursive: true });
  }
}

/** The message of the CommandError with which a command ends. */
export async function refusalOf(running: Promise<unknown>): Promise<string> {
  const error: unknown = await running.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CommandError);
  return (error as Error).message;
}

interface AwsClient {
  readonly middlewareStack: {
    // biome-ignore lint/suspicious/noExplicitAny: what the clients of all services have in common.
    add(middleware: any): void;
  };
}

/**
 * A client with its own answers.
 * @param answer by the name of the command; undefined calls AWS
 */
export function replied<Client extends AwsClient>(
  client: Client,
  // biome-ignore lint/suspicious/noExplicitAny: any command's input.
  answer: (command: string, input: any) => unknown,
): Client {
  client.middlewareStack.add(
    (next: (args: object) => object, { commandName }: { commandName: string }) =>
      async (args: { input: object }) => {
        const output = (await answer(commandName, args.input)) as object | undefined;
        return output === undefined ? next(args) : { response: {}, output: { ...output, $metadata: {} } };
      },
  );
  return client;
}

/** A dead letter as a consumer sends it. */
export const DEAD = {
  event: 'shop.updated',
  eventId: 'e'.repeat(64),
  receivedAt: '2026-01-31T09:00:00.000Z',
  requestId: 'request-1',
  failureReason: 'InternalServerError: the table was away',
  failedAt: '2026-01-31T12:00:00.000Z',
};

/** A usable event with personal data, which must not appear by accident. */
export const shopUpdated = (shopId: string) =>
  JSON.stringify({
    event: 'shop.updated',
    data: { shop_id: shopId, name: 'Personal name' },
    timestamp: '2026-01-31T09:00:00Z',
  });

/** The body of a message in quarantine. */
export const quarantined = (bytes: string | Uint8Array) =>
  JSON.stringify({ problems: [], bodyBase64: Buffer.from(bytes).toString('base64') });
