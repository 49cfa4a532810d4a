import { execFile as execFileWithCallback } from 'node:child_process';
import { promisify } from 'node:util';
import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteObjectCommand, GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Message } from '@aws-sdk/client-sqs';
import { eventually } from '../support/eventually.ts';
import { type Row, Tables } from '../support/tables.ts';
import { eventIdIn, type Filter, KeptMessages, Subscriber } from './messages.ts';
import { type Answer, type Delivery, eventIdOf, Partner, toBytes } from './partner.ts';
import { type Outputs, ofThisRun, readTarget, readWebhookSecret, variable } from './target.ts';

const execFile = promisify(execFileWithCallback);

/** In milliseconds. */
const PATIENCE = { limit: Number(process.env[variable.wait]) * 1000, interval: 200 };

/**
 * A deployed stack as its outputs describe it, and all that this run has left there. Other traffic may
 * flow at the same time: nothing is read or removed but what bears this run's name or request ids.
 */
export class Deployment {
  readonly outputs: Outputs;
  readonly partner: Partner;
  readonly tables = new Tables();
  readonly messages = new KeptMessages();
  // Elsewhere than in AWS there may be no name server that knows a bucket as a host.
  readonly #s3 = new S3Client({ forcePathStyle: process.env.AWS_ENDPOINT_URL !== undefined });
  /** By their content: what was left twice is removed once. */
  readonly #leftovers = new Map<string, Leftover>();
  readonly #subscribers: Subscriber[] = [];

  /** @throws TargetError, or what reading the secret throws */
  static async connect(): Promise<Deployment> {
    const { outputs } = readTarget(process.env[variable.outputs] ?? '');
    return new Deployment(outputs, await readWebhookSecret(outputs.WebhookSecretArn));
  }

  private constructor(outputs: Outputs, secret: string) {
    this.outputs = outputs;
    this.partner = new Partner(outputs.WebhookUrl, secret);
  }

  /** Posts a delivery and notes what it leaves behind. */
  async post(body: unknown, delivery?: Delivery): Promise<Answer> {
    const answer = await this.partner.post(body, delivery);
    for (const leftover of leftoversOf(this.outputs, body, answer)) this.#leave(leftover);
    return answer;
  }

  #leave(leftover: Leftover): void {
    this.#leftovers.set(JSON.stringify(leftover), leftover);
  }

  /** Posts a sample, of which nothing says where it has its effect. */
  async postSample(body: string, ids: readonly string[]): Promise<Answer> {
    for (const place of placesOfRow(this.outputs, ids)) {
      this.#leave({ kind: 'possible row', ...place });
    }
    // Also of an event that the deployed stage does not know yet.
    return this.post(body);
  }

  /**
   * Waits until an event has had its effect, wherever that is: a row whose version ends in the event's id, or a
   * notification that carries it.
   * @param ids of which one is the key of the row
   */
  effect(eventId: string, ids: readonly string[], subscribers: readonly Subscriber[]): Promise<true> {
    const places = placesOfRow(this.outputs, ids);
    return eventually(async () => {
      const rows = await Promise.all(places.map(({ table, key }) => this.tables.get(table, key)));
      if (rows.some((row) => String(row?.version).endsWith(`#${eventId}`))) return true;
      const notified = (await Promise.all(subscribers.map((subscriber) => subscriber.receive()))).flat();
      return notified.some((message) => eventIdIn(message) === eventId) ? true : undefined;
    }, PATIENCE);
  }

  /** A row, once it is there and fits. */
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

  /** The message that a delivery left on a queue, once it is there. It is taken off the queue. */
  async kept(queueUrl: string, { body: { requestId } }: Answer): Promise<Message> {
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

  /** Makes an attribute of a row wrong, as a fault of a consumer would, and leaves its version. */
  async damage(table: string, key: Readonly<Record<string, string>>, attribute: string): Promise<void> {
    await this.tables.client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: Object.fromEntries(Object.entries(key).map(([name, value]) => [name, { S: value }])),
        UpdateExpression: 'SET #attribute = :wrong',
        ExpressionAttributeNames: { '#attribute': attribute },
        ExpressionAttributeValues: { ':wrong': { S: 'wrong' } },
      }),
    );
  }

  /**
   * Repairs what an event wrote by `npm run replay`, as people do.
   * @param settledAt of its record
   * @throws Error with what the command said, where it failed
   */
  async repair(eventId: string, settledAt: string, name: string): Promise<void> {
    this.#leave({ kind: 'replay', name });
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
      ...['tools/cli/commands/entry.js', 'replay', '--yes'],
      ...Object.entries(options).flat(),
    ]);
  }

  /** From now on gets what a topic publishes with these message attributes. */
  async subscribe(topicArn: string, filter: Filter, name: string): Promise<Subscriber> {
    const topic = { arn: topicArn, output: this.#outputOf(topicArn) };
    const subscriber = await Subscriber.create(this.messages.client, topic, filter, ofThisRun(name));
    this.#subscribers.push(subscriber);
    return subscriber;
  }

  /** Which output a topic is, by which its description knows it. */
  #outputOf(value: string): string {
    const [name = ''] = Object.entries(this.outputs).find(([, output]) => output === value) ?? [];
    return name;
  }

  /** What a subscriber gets until the notification of one event has come, which is the last of them. */
  async notifications(subscriber: Subscriber, { body: { eventId } }: Answer): Promise<Message[]> {
    const all: Message[] = [];
    return eventually(async () => {
      all.push(...(await subscriber.receive()));
      return all.some((message) => eventIdIn(message) === eventId) ? all : undefined;
    }, PATIENCE);
  }

  /**
   * Removes all that this run has left. What notifications remember, so as not to be sent twice, is in a
   * table that no output names: it expires after 90 days.
   * @throws AggregateError of what could not be removed
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

  /** An event still under way would need its payload, and would write its row after the removal. */
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
    if (leftover.kind === 'replay') {
      await this.#s3.send(
        new DeleteObjectCommand({ Bucket: this.outputs.ArchiveBucket, Key: `replays/${leftover.name}.json` }),
      );
    }
    if (leftover.kind === 'row' || leftover.kind === 'possible row') {
      await this.tables.client.send(
        new DeleteItemCommand({
          TableName: leftover.table,
          Key: Object.fromEntries(Object.entries(leftover.key).map(([name, value]) => [name, { S: value }])),
        }),
      );
    }
  }
}

/** Something that a delivery has left in the deployed stack, or is about to. */
type Leftover =
  | ({ readonly kind: 'row' } & PlaceOfRow)
  /** Where nothing says whether the delivery writes it. */
  | ({ readonly kind: 'possible row' } & PlaceOfRow)
  | { readonly kind: 'message'; readonly queueUrl: string; readonly requestId: string }
  | { readonly kind: 'payload'; readonly key: string }
  /** The state of a replay. */
  | { readonly kind: 'replay'; readonly name: string };

interface PlaceOfRow {
  readonly table: string;
  readonly key: Readonly<Record<string, string>>;
}

type TableOutput = 'ShopCacheTable' | 'CastTable' | 'ContactPartnerTable';

/** The output with each table, and the table's key. */
const TABLES = [
  ['ShopCacheTable', 'shop_id'],
  ['CastTable', 'girl_id'],
  ['ContactPartnerTable', 'user_id'],
] as const satisfies readonly (readonly [table: TableOutput, key: string])[];

/** Every place in the tables where an event with these ids may have a row. */
function placesOfRow(outputs: Outputs, ids: readonly string[]): PlaceOfRow[] {
  return TABLES.flatMap(([table, key]) => ids.map((id) => ({ table: outputs[table], key: { [key]: id } })));
}

/**
 * Where the events that tests post by themselves leave a row: the output with its table, and the field of
 * `data` that is the key.
 */
const ROWS: Readonly<Record<string, readonly [table: TableOutput, key: string]>> = {
  'shop.updated': ['ShopCacheTable', 'shop_id'],
  'girl.created': ['CastTable', 'girl_id'],
  'girl.deleted': ['CastTable', 'girl_id'],
  'user.updated': ['ContactPartnerTable', 'user_id'],
};

/** Payloads from here on, in bytes, may be in the bucket: twice as long where a record of the archive escapes them. */
const MAYBE_STORED = 484 * 1024;

/** What a delivery leaves behind, by what was posted and answered. */
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
  const [table, key] = ROWS[event] ?? [];
  if (table === undefined || key === undefined) return payload(event);
  return [{ kind: 'row', table: outputs[table], key: { [key]: String(data[key]) } }, ...payload(event)];
}
