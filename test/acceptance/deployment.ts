import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteObjectCommand, GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Message } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { eventually } from '../support/eventually.ts';
import { type Answer, type Delivery, eventIdOf, Partner, toBytes } from '../support/partner.ts';
import { type Row, Tables } from '../support/tables.ts';
import { expectDescribedAnswer } from './descriptions.ts';
import { type AttributeFilter, eventIdIn, MessageFinder, Subscriber } from './messages.ts';
import { type Outputs, ofThisRun, readTarget, readWebhookSecret, variable } from './target.ts';

/** Timeout and interval of waits, in milliseconds. */
const PATIENCE = { limit: Number(process.env[variable.wait]) * 1000, interval: 200 };

/**
 * A deployed stack, described by its outputs, and everything that this run has left there. Other traffic may be
 * running: only data with this run's name or request ids is read or removed.
 */
export class Deployment {
  readonly outputs: Outputs;
  readonly partner: Partner;
  readonly tables = new Tables();
  // Outside AWS, the bucket's host name may not resolve.
  readonly #s3 = new S3Client({ forcePathStyle: process.env.AWS_ENDPOINT_URL !== undefined });
  readonly #finder = new MessageFinder();
  /** What to remove at the end: items by their id, request ids with their queue, and payloads. */
  readonly #rows = new Map<unknown, RowLocation>();
  readonly #messages = new Map<string, string>();
  readonly #payloads = new Set<string>();
  readonly #subscribers: Subscriber[] = [];

  /** @throws TargetError, or errors from reading the secret */
  static async connect(): Promise<Deployment> {
    const { outputs } = readTarget(process.env[variable.outputs] ?? '');
    return new Deployment(outputs, await readWebhookSecret(outputs.WebhookSecretArn));
  }

  private constructor(outputs: Outputs, secret: string) {
    this.outputs = outputs;
    this.partner = new Partner(outputs.WebhookUrl, secret);
  }

  /** Posts a delivery. The answer must be as described. */
  async post(body: unknown, delivery?: Delivery): Promise<Answer> {
    const answer = await this.partner.post(body, delivery);
    expectDescribedAnswer(answer);
    this.#leave(toBytes(body), answer);
    return answer;
  }

  /** Waits for an item that matches. */
  row(
    table: string,
    key: Readonly<Record<string, string>>,
    fits: (row: Row) => boolean = () => true,
  ): Promise<Row> {
    return eventually(async () => {
      const row = await this.tables.get(table, key);
      return row && fits(row) ? row : undefined;
    }, PATIENCE);
  }

  /** Waits for the message that a delivery left on a queue, and deletes it from the queue. */
  async waitingMessage(queueUrl: string, { body: { requestId } }: Answer): Promise<Message> {
    const message = await this.#take(queueUrl, String(requestId));
    this.#messages.delete(String(requestId));
    return message;
  }

  /** A payload that was too large for a message, as text. */
  async payload(key: unknown): Promise<string | undefined> {
    const { Body } = await this.#s3.send(
      new GetObjectCommand({ Bucket: this.outputs.PayloadBucket, Key: String(key) }),
    );
    return Body?.transformToString();
  }

  /** Subscribes to the notifications of a topic that have these message attributes. */
  async subscribe(topicArn: string, filter: AttributeFilter, name: string): Promise<Subscriber> {
    const subscriber = await Subscriber.create(this.#finder.client, topicArn, filter, ofThisRun(name));
    this.#subscribers.push(subscriber);
    return subscriber;
  }

  /** The notifications that a subscriber receives, up to the one of this event. */
  async notifications(subscriber: Subscriber, { body: { eventId } }: Answer): Promise<Message[]> {
    const all: Message[] = [];
    return eventually(async () => {
      all.push(...(await subscriber.receive()));
      return all.some((message) => eventIdIn(message) === eventId) ? all : undefined;
    }, PATIENCE);
  }

  /**
   * Removes everything that this run has left. Idempotency items of notifications are in a table that no output names:
   * they expire after 90 days.
   * @throws AggregateError with everything that could not be removed
   */
  async cleanUp(): Promise<void> {
    const rows = [...this.#rows.values()];
    // An event still in progress would need its payload, and would write its item after the removal.
    const arrived = await Promise.allSettled([
      ...rows.map(({ table, key }) => this.row(table, key)),
      ...[...this.#messages].map(([requestId, queueUrl]) => this.#take(queueUrl, requestId)),
      ...this.#subscribers.map((subscriber) => subscriber.remove()),
    ]);
    const removed = await Promise.allSettled([
      ...rows.map(({ table, key }) =>
        this.tables.client.send(new DeleteItemCommand({ TableName: table, Key: marshall(key) })),
      ),
      ...[...this.#payloads].map((Key) =>
        this.#s3.send(new DeleteObjectCommand({ Bucket: this.outputs.PayloadBucket, Key })),
      ),
    ]);
    const errors = [...arrived, ...removed].flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason] : [],
    );
    if (errors.length > 0) {
      throw new AggregateError(errors, `Of ${ofThisRun('…')} could not be removed: ${errors.join('; ')}`);
    }
  }

  #take(queueUrl: string, requestId: string): Promise<Message> {
    return eventually(() => this.#finder.take(queueUrl, requestId), PATIENCE);
  }

  /** Notes everything that a delivery leaves in the stack, or will leave. */
  #leave(posted: Buffer, { status, body }: Answer): void {
    if (status !== 200 && status !== 400) return;
    const isWaiting = status === 400 || body.status === 'parked';
    const { QuarantineQueueUrl, UnroutedQueueUrl } = this.outputs;
    let folder = status === 400 ? 'quarantine' : 'unrouted';
    if (isWaiting) {
      this.#messages.set(String(body.requestId), status === 400 ? QuarantineQueueUrl : UnroutedQueueUrl);
    } else {
      const { event, data } = JSON.parse(posted.toString());
      const key = KEYS[event];
      if (key)
        this.#rows.set(data[key], { table: this.outputs[TABLES[key]], key: { [key]: String(data[key]) } });
      folder = event;
    }
    if (posted.length >= MAYBE_STORED) this.#payloads.add(`${folder}/${eventIdOf(posted)}`);
  }
}

interface RowLocation {
  readonly table: string;
  readonly key: Readonly<Record<string, string>>;
}

/** The tables that events write to, by the key of their items, which is a field of `data`. */
const TABLES = { shop_id: 'ShopCacheTable', girl_id: 'CastTable', user_id: 'ContactPartnerTable' } as const;

/** The keys of the items that the tests' own events write. */
const KEYS: Readonly<Record<string, keyof typeof TABLES>> = {
  'shop.updated': 'shop_id',
  'girl.created': 'girl_id',
  'girl.deleted': 'girl_id',
  'user.updated': 'user_id',
};

/**
 * Payloads of at least this many bytes may be in the bucket, because escaping in an archive record may double their
 * length.
 */
const MAYBE_STORED = 484 * 1024;
