import { execFile as execFileWithCallback } from 'node:child_process';
import { promisify } from 'node:util';
import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteObjectCommand, GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Message } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { eventually } from '../support/eventually.ts';
import { type Answer, type Delivery, eventIdOf, Partner, toBytes } from '../support/partner.ts';
import { type Row, Tables } from '../support/tables.ts';
import { expectDescribedAnswer } from './descriptions.ts';
import { type AttributeFilter, eventIdIn, MessageFinder, Subscriber } from './messages.ts';
import { type Outputs, ofThisRun, readTarget, readWebhookSecret, variable } from './target.ts';

const execFile = promisify(execFileWithCallback);

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
  readonly messages = new MessageFinder();
  // Outside AWS, the bucket's host name may not resolve.
  readonly #s3 = new S3Client({ forcePathStyle: process.env.AWS_ENDPOINT_URL !== undefined });
  /** What to remove at the end, by content, so that equal leftovers are removed once. */
  readonly #leftovers = new Map<string, Leftover>();
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
    for (const leftover of leftoversOf(this.outputs, body, answer)) this.#leave(leftover);
    return answer;
  }

  #leave(leftover: Leftover): void {
    this.#leftovers.set(JSON.stringify(leftover), leftover);
  }

  /** Posts a sample event, whose effect may write to any table. */
  async postSample(body: string, ids: readonly string[]): Promise<Answer> {
    for (const place of rowLocations(this.outputs, ids)) {
      this.#leave({ kind: 'possible row', ...place });
    }
    // The event is posted even if the deployed stage does not know it yet.
    return this.post(body);
  }

  /**
   * Waits until an event is processed, whatever its effect: an item whose version ends with the event's id, or a
   * notification that contains the id.
   * @param ids one of them is the key of the item
   */
  effect(eventId: string, ids: readonly string[], subscribers: readonly Subscriber[]): Promise<true> {
    const places = rowLocations(this.outputs, ids);
    return eventually(async () => {
      const rows = await Promise.all(places.map(({ table, key }) => this.tables.get(table, key)));
      if (rows.some((row) => String(row?.version).endsWith(`#${eventId}`))) return true;
      const notified = (await Promise.all(subscribers.map((subscriber) => subscriber.receive()))).flat();
      return notified.some((message) => eventIdIn(message) === eventId) ? true : undefined;
    }, PATIENCE);
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
    const leftover = { kind: 'message', queueUrl, requestId: String(requestId) } as const;
    const message = await eventually(() => this.messages.take(queueUrl, leftover.requestId), PATIENCE);
    this.#leftovers.delete(JSON.stringify(leftover));
    return message;
  }

  /** A payload that was too large for a message, as text. */
  async payload(key: unknown): Promise<string | undefined> {
    const { Body } = await this.#s3.send(
      new GetObjectCommand({ Bucket: this.outputs.PayloadBucket, Key: String(key) }),
    );
    return Body?.transformToString();
  }

  /** Makes an attribute of an item wrong, like a bug of a consumer, and keeps its version. */
  async damage(table: string, key: Readonly<Record<string, string>>, attribute: string): Promise<void> {
    await this.tables.client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: marshall(key),
        UpdateExpression: 'SET #attribute = :wrong',
        ExpressionAttributeNames: { '#attribute': attribute },
        ExpressionAttributeValues: { ':wrong': { S: 'wrong' } },
      }),
    );
  }

  /**
   * Repairs an event's item with `npx hookctl replay`, as an operator does.
   * @param settledAt time at which the event's record was settled
   * @throws Error with the output of the command, if it failed
   */
  async repair(eventId: string, settledAt: string, name: string): Promise<void> {
    const moment = (offset: number) => new Date(Date.parse(settledAt) + offset).toISOString();
    const options = {
      '--id': eventId,
      '--since': moment(-1),
      '--until': moment(1),
      '--mode': 'repair',
      '--name': name,
      '--outputs': process.env[variable.outputs] ?? '',
    };
    await execFile(process.execPath, [
      ...['tools/hookctl.js', 'replay', '--yes'],
      ...Object.entries(options).flat(),
    ]);
  }

  /** Subscribes to the notifications of a topic that have these message attributes. */
  async subscribe(topicArn: string, filter: AttributeFilter, name: string): Promise<Subscriber> {
    const subscriber = await Subscriber.create(this.messages.client, topicArn, filter, ofThisRun(name));
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
    const leftovers = [...this.#leftovers.values()];
    const arrived = await Promise.allSettled([
      ...leftovers.map((leftover) => this.#awaitArrival(leftover)),
      ...this.#subscribers.map((subscriber) => subscriber.remove()),
    ]);
    const removed = await Promise.allSettled(leftovers.map((leftover) => this.#remove(leftover)));
    const errors = [...arrived, ...removed].flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason] : [],
    );
    if (errors.length > 0) {
      throw new AggregateError(errors, `Of ${ofThisRun('…')} could not be removed: ${errors.join('; ')}`);
    }
  }

  /** An event still in progress would need its payload, and would write its item after the removal. */
  async #awaitArrival(leftover: Leftover): Promise<void> {
    if (leftover.kind === 'row') await this.row(leftover.table, leftover.key);
    if (leftover.kind === 'message') {
      await eventually(() => this.messages.take(leftover.queueUrl, leftover.requestId), PATIENCE);
    }
  }

  async #remove(leftover: Leftover): Promise<void> {
    if (leftover.kind === 'payload') {
      await this.#s3.send(new DeleteObjectCommand({ Bucket: this.outputs.PayloadBucket, Key: leftover.key }));
    }
    if (leftover.kind === 'row' || leftover.kind === 'possible row') {
      await this.tables.client.send(
        new DeleteItemCommand({
          TableName: leftover.table,
          Key: marshall(leftover.key),
        }),
      );
    }
  }
}

/** Something that a delivery has left, or will leave, in the deployed stack. */
type Leftover =
  | ({ readonly kind: 'row' } & RowLocation)
  /** An item that the delivery may write: it is unknown to which table its effect writes. */
  | ({ readonly kind: 'possible row' } & RowLocation)
  | { readonly kind: 'message'; readonly queueUrl: string; readonly requestId: string }
  | { readonly kind: 'payload'; readonly key: string };

interface RowLocation {
  readonly table: string;
  readonly key: Readonly<Record<string, string>>;
}

/** The tables that events write to: the output with the table's name, and its key, which is a field of `data`. */
const [SHOPS, CAST, CONTACTS] = [
  ['ShopCacheTable', 'shop_id'],
  ['CastTable', 'girl_id'],
  ['ContactPartnerTable', 'user_id'],
] as const;

/** The keys of all items that may exist for an event with these ids. */
const rowLocations = (outputs: Outputs, ids: readonly string[]): RowLocation[] =>
  [SHOPS, CAST, CONTACTS].flatMap(([table, key]) =>
    ids.map((id) => ({ table: outputs[table], key: { [key]: id } })),
  );

/** Where the tests' own events write items. */
const ROWS = new Map<string, typeof SHOPS | typeof CAST | typeof CONTACTS>([
  ['shop.updated', SHOPS],
  ['girl.created', CAST],
  ['girl.deleted', CAST],
  ['user.updated', CONTACTS],
]);

/**
 * Payloads of at least this many bytes may be in the bucket, because escaping in an archive record may double their
 * length.
 */
const MAYBE_STORED = 484 * 1024;

/** Everything that a delivery leaves behind, derived from the request and the answer. */
function leftoversOf(outputs: Outputs, posted: unknown, answer: Answer): Leftover[] {
  const body = toBytes(posted);
  const requestId = String(answer.body.requestId);
  const payload = (folder: string): Leftover[] =>
    body.length < MAYBE_STORED ? [] : [{ kind: 'payload', key: `${folder}/${eventIdOf(body)}` }];

  if (answer.status === 400) {
    return [{ kind: 'message', queueUrl: outputs.QuarantineQueueUrl, requestId }, ...payload('quarantine')];
  }
  if (answer.status !== 200) return [];
  if (answer.body.status === 'parked') {
    return [{ kind: 'message', queueUrl: outputs.UnroutedQueueUrl, requestId }, ...payload('unrouted')];
  }
  const { event, data } = JSON.parse(body.toString()) as { event: string; data: Record<string, unknown> };
  const [table, key] = ROWS.get(event) ?? [];
  if (table === undefined) return payload(event);
  return [{ kind: 'row', table: outputs[table], key: { [key]: String(data[key]) } }, ...payload(event)];
}
