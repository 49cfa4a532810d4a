import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  TagQueueCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openKeptState } from '../../../../local/aws/kept-state.ts';
import { KeptEndpoint } from './kept-endpoint.ts';

/** Receives of a message until it is a dead letter. */
const MAXIMUM_RECEIVES = 2;

/** Longer than any test: what is in flight stays so. */
const LONG_SECONDS = 600;

/** The most that one call receives, so that a receive takes all that is visible. */
const MOST = 10;

let endpoint: KeptEndpoint;

beforeAll(async () => {
  endpoint = await KeptEndpoint.start();
});

afterAll(() => endpoint[Symbol.asyncDispose]());

/** What a message should be. */
interface Expected {
  readonly body: string;
  readonly attribute: string;
  receives: number;
  place: 'visible' | 'in flight' | 'delayed' | 'dead';
  handle?: string;
}

const send = fc.record({
  kind: fc.constant('send' as const),
  text: fc.string({ unit: 'binary-ascii', maxLength: 50 }).filter((text) => !/[^\t\n\r -\uD7FF]/.test(text)),
  size: fc.constantFrom(0, 0, 0, 700_000),
  delay: fc.constantFrom(0, 0, 0, LONG_SECONDS),
});
const step = fc.oneof(
  { weight: 4, arbitrary: send },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('receive' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('delete' as const, 'give back' as const, 'extend' as const),
      index: fc.nat(MOST),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('tag' as const) }) },
);
type Step = (typeof step)['generate'] extends (...values: never[]) => fc.Value<infer Value> ? Value : never;
type Send = Extract<Step, { kind: 'send' }>;

/** What is done until the endpoint stops. */
const life = fc.array(step, { minLength: 5, maxLength: 25 });

let queues = 0;

class Queue {
  readonly messages: Expected[] = [];
  readonly #name: string;
  #url = '';
  #deadUrl = '';
  #sent = 0;

  constructor() {
    queues += 1;
    this.#name = `queue-${queues}`;
  }

  async create(): Promise<void> {
    const { sqs } = endpoint.clients;
    await sqs.send(new CreateQueueCommand({ QueueName: `${this.#name}-dead` }));
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: `arn:aws:sqs:eu-central-1:000000000000:${this.#name}-dead`,
      maxReceiveCount: MAXIMUM_RECEIVES,
    });
    await sqs.send(new CreateQueueCommand({ QueueName: this.#name, Attributes: { RedrivePolicy } }));
    await this.find();
  }

  /** After a restart, on another port. */
  async find(): Promise<void> {
    const url = async (QueueName: string) =>
      (await endpoint.clients.sqs.send(new GetQueueUrlCommand({ QueueName }))).QueueUrl ?? '';
    this.#url = await url(this.#name);
    this.#deadUrl = await url(`${this.#name}-dead`);
  }

  get url(): string {
    return this.#url;
  }

  async do(one: Step): Promise<void> {
    switch (one.kind) {
      case 'send':
        return this.#send(one);
      case 'receive':
        return this.#receive();
      case 'tag':
        await endpoint.clients.sqs.send(new TagQueueCommand({ QueueUrl: this.#url, Tags: { of: 'a test' } }));
        return;
      default:
        return this.#settle(one.kind, one.index);
    }
  }

  async #send({ text, size, delay }: Send): Promise<void> {
    if (this.messages.length === MOST) return;
    this.#sent += 1;
    const message: Expected = {
      body: `${this.#sent} ${text}${'.'.repeat(size)}`,
      attribute: text === '' ? '-' : text,
      receives: 0,
      place: delay === 0 ? 'visible' : 'delayed',
    };
    await endpoint.clients.sqs.send(
      new SendMessageCommand({
        QueueUrl: this.#url,
        MessageBody: message.body,
        DelaySeconds: delay,
        MessageAttributes: { text: { DataType: 'String', StringValue: message.attribute } },
      }),
    );
    this.messages.push(message);
  }

  async #receive(): Promise<void> {
    const received = await take(this.#url, LONG_SECONDS);
    for (const message of this.messages.filter(({ place }) => place === 'visible')) {
      message.receives += 1;
      if (message.receives > MAXIMUM_RECEIVES) {
        message.place = 'dead';
        continue;
      }
      message.place = 'in flight';
      message.handle = received.find(({ Body }) => Body === message.body)?.ReceiptHandle ?? 'not received';
    }
    expect(received.map(seen).sort(byBody)).toEqual(
      this.messages
        .filter((one) => received.some(({ Body }) => Body === one.body))
        .map(wanted)
        .sort(byBody),
    );
  }

  async #settle(kind: 'delete' | 'give back' | 'extend', index: number): Promise<void> {
    const inFlight = this.messages.filter(({ place }) => place === 'in flight');
    const message = inFlight[index % Math.max(inFlight.length, 1)];
    if (message === undefined) return;
    const which = { QueueUrl: this.#url, ReceiptHandle: message.handle };
    const { sqs } = endpoint.clients;
    if (kind === 'delete') {
      await sqs.send(new DeleteMessageCommand(which));
      this.messages.splice(this.messages.indexOf(message), 1);
      return;
    }
    const VisibilityTimeout = kind === 'extend' ? LONG_SECONDS + 1 : 0;
    await sqs.send(new ChangeMessageVisibilityCommand({ ...which, VisibilityTimeout }));
    if (kind === 'give back') message.place = 'visible';
  }

  /** What SQS counts, and what it should. */
  async counts(): Promise<{ counted: number[]; expected: number[] }> {
    const { Attributes = {} } = await endpoint.clients.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: this.#url, AttributeNames: ['All'] }),
    );
    const places = ['visible', 'in flight', 'delayed'];
    return {
      counted: [
        Number(Attributes.ApproximateNumberOfMessages),
        Number(Attributes.ApproximateNumberOfMessagesNotVisible),
        Number(Attributes.ApproximateNumberOfMessagesDelayed),
      ],
      expected: places.map((place) => this.messages.filter((one) => one.place === place).length),
    };
  }

  /** Takes every message by what is known of it, and its dead-letter queue's. */
  async takeAll(): Promise<void> {
    for (const message of this.messages) {
      if (message.place === 'in flight') await this.#settle('give back', 0);
    }
    const wantedBodies = this.messages.filter(
      ({ place, receives }) => place === 'visible' && receives < MAXIMUM_RECEIVES,
    );
    expect((await take(this.#url, LONG_SECONDS)).map(({ Body }) => Body).sort()).toEqual(
      wantedBodies.map(({ body }) => body).sort(),
    );
    const dead = this.messages.filter(
      ({ place, receives }) => place === 'dead' || (place === 'visible' && receives === MAXIMUM_RECEIVES),
    );
    expect((await take(this.#deadUrl, LONG_SECONDS)).map(({ Body }) => Body).sort()).toEqual(
      dead.map(({ body }) => body).sort(),
    );
  }
}

async function take(QueueUrl: string, VisibilityTimeout: number): Promise<Message[]> {
  const { Messages = [] } = await endpoint.clients.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl,
      VisibilityTimeout,
      MaxNumberOfMessages: MOST,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    }),
  );
  return Messages;
}

interface Seen {
  readonly body: string | undefined;
  readonly attribute: string | undefined;
  readonly receives: number;
}

const seen = ({ Body, MessageAttributes, Attributes }: Message): Seen => ({
  body: Body,
  attribute: MessageAttributes?.text?.StringValue,
  receives: Number(Attributes?.ApproximateReceiveCount),
});
const wanted = ({ body, attribute, receives }: Expected): Seen => ({ body, attribute, receives });
const byBody = (one: Seen, other: Seen) => String(one.body).localeCompare(String(other.body));

test('whatever was done with messages: after a restart each is where it was, with its receives and attributes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 3 }), async (lives) => {
      const queue = new Queue();
      await queue.create();
      for (const steps of lives) {
        for (const one of steps) await queue.do(one);
        await endpoint.restart();
        await queue.find();
        const { counted, expected } = await queue.counts();
        expect(counted).toEqual(expected);
      }
      await queue.takeAll();
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

test('a message is taken off its queue and put on the dead-letter queue in one transaction', async () => {
  const { folder } = endpoint;
  const deadLetterTargetArn = 'arn:aws:sqs:eu-central-1:000000000000:moved-dead';
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
  await endpoint.clients.sqs.send(new CreateQueueCommand({ QueueName: 'moved-dead' }));
  const { QueueUrl = '' } = await endpoint.clients.sqs.send(
    new CreateQueueCommand({ QueueName: 'moved', Attributes: { RedrivePolicy } }),
  );
  await endpoint.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'of a test' }));
  await endpoint.stop();

  const places: unknown[] = [];
  const look = () => {
    const reader = new DatabaseSync(join(folder, 'fauxqs.db'), { readOnly: true });
    const rows = reader.prepare('SELECT queue_name FROM sqs_messages WHERE body = ?').all('of a test');
    places.push(...rows.map(({ queue_name }) => queue_name));
    reader.close();
  };
  const kept = await openKeptState(folder, console.error);
  const { sqsStore } = kept.stores;
  const receive = () => sqsStore.getQueueByName('moved')?.dequeue(1, 0, (arn) => sqsStore.getQueueByArn(arn));
  receive();
  // fauxqs tells its spy of a message between the two steps.
  Object.assign(sqsStore.getQueueByName('moved-dead') ?? {}, { spy: { addMessage: look } });
  receive();
  kept.close();
  look();
  expect(places).toEqual(['moved', 'moved-dead']);
  await endpoint.start();
});
