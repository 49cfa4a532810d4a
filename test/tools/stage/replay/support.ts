import { Writable } from 'node:stream';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Message } from '@aws-sdk/client-sqs';
import type { ArchiveRecord } from '../../../../lambda/archive/record.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { Progress } from '../../../../tools/cli/terminal/progress.ts';
import type { ReplayOptions } from '../../../../tools/stage/replay/plan.ts';
import { replay } from '../../../../tools/stage/replay/replay.ts';
import type { ReplayState } from '../../../../tools/stage/replay/state.ts';
import type { TestAws } from '../../../support/test-aws.ts';
import { archived, objectKey, putObject, putRecords } from '../archive/support.ts';
import { Operator } from '../queues/support.ts';

export const OPERATOR = 'arn:aws:iam::000000000000:user/operator';

export type Asked = Partial<ReplayOptions>;

/** A time as it is typed in full. */
export function at(moment: Date) {
  return { text: moment.toISOString(), moment };
}

/** Minutes before now. */
export const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);

let windows = 0;

/** A window of its own for each test, so that none sees what another has archived. */
export function window() {
  windows += 1;
  const end = ago(windows * 24 * 60);
  const before = (minutes: number) => new Date(end.getTime() - minutes * 60_000);
  return { since: at(before(120)), until: at(end), middle: before(60) };
}

/** Somebody who replays what a test has put into the archive. */
export class Replayer {
  readonly operator: Operator;
  readonly #s3: S3Client;
  #replays = 0;

  static async create(aws: Pick<TestAws, 'outputs' | 'operator'>): Promise<Replayer> {
    const s3 = new S3Client({ ...aws.operator, forcePathStyle: true });
    return new Replayer(await Operator.create(aws), s3);
  }

  constructor(operator: Operator, s3: S3Client) {
    this.operator = operator;
    this.#s3 = s3;
  }

  get #archive() {
    return { s3: this.#s3, outputs: this.operator.outputs };
  }

  /** Puts an object of records, by default of an hour ago. @returns its key */
  async archive(name: string, records: readonly Partial<ArchiveRecord>[], moment = ago(60)): Promise<string> {
    const whole = records.map((record) => {
      const time = moment.toISOString();
      return archived({ receivedAt: time, settledAt: time, ...record });
    });
    const key = objectKey(name, whole[0]?.event, moment.toISOString().slice(0, 13));
    await putRecords(this.#archive, key, whole);
    return key;
  }

  /** Puts whatever bytes as an object of shop.updated. @returns its key */
  async archiveBytes(name: string, bytes: Buffer, moment = ago(60)): Promise<string> {
    const key = objectKey(name, 'shop.updated', moment.toISOString().slice(0, 13));
    await putObject(this.#archive, key, bytes);
    return key;
  }

  /** Replays, by default all of the last three hours under a new name, at once and without a question. */
  async replay(asked: Asked = {}, signal = new AbortController().signal) {
    const operation = this.operator.operation(signal);
    const shown: string[] = [];
    const stream = new Writable({
      write(chunk, _encoding, done) {
        shown.push(String(chunk));
        done();
      },
    });
    const size = { isTTY: true, columns: 200, rows: 50 };
    const terminal = Object.assign(stream, size) as unknown as NodeJS.WriteStream;
    this.#replays += 1;
    const name = `test-${this.#replays}`;
    const usual = { name, events: [], rate: 10_000, dryRun: false, yes: true, since: at(ago(180)) };
    const options = { ...usual, ...asked };
    const done = await replay({ ...operation, progress: new Progress(terminal) }, options);
    return { done, said: operation.said.join('\n'), shown: shown.join('') };
  }

  /** Takes everything off a queue. */
  taken(output: string): Promise<Message[]> {
    return this.operator.taken(this.operator.outputs[output]);
  }

  /** The shops of shop.updated's queue, in their order. Takes them off it. */
  async shops(): Promise<string[]> {
    const messages = await this.taken('ShopUpdatedQueueUrl');
    return messages.map(({ Body = '' }) => JSON.parse(Body).data.shop_id).sort();
  }

  async state(name: string): Promise<ReplayState> {
    const { Body } = await this.#s3.send(new GetObjectCommand(this.#stateOf(name)));
    return JSON.parse((await Body?.transformToString()) ?? '');
  }

  async putState(state: ReplayState): Promise<void> {
    await this.#s3.send(new PutObjectCommand({ ...this.#stateOf(state.name), Body: JSON.stringify(state) }));
  }

  #stateOf(name: string) {
    return { Bucket: this.operator.outputs.ArchiveBucket, Key: `replays/${name}.json` };
  }

  async close(): Promise<void> {
    this.#s3.destroy();
    await this.operator.close();
  }
}

/** Records of shop.updated that differ in their bodies. @param first number of the first */
export function numbered(count: number, first = 0): Partial<ArchiveRecord>[] {
  return Array.from({ length: count }, (_, index) => {
    const shop = `shop-${first + index}`;
    const body = JSON.stringify({
      event: 'shop.updated',
      data: { shop_id: shop },
      timestamp: '2026-01-31T09:00:00Z',
    });
    return { eventId: sha256Hex(body), shopId: shop, body, requestId: `request-${first + index}` };
  });
}

/** Start of {@link begun}'s window. */
export const SINCE = ago(180);

/** A replay that was begun and left before it sent anything. */
export function begun(name: string, until = new Date()): ReplayState {
  const since = SINCE.toISOString();
  return {
    name,
    mode: 'fill',
    notify: false,
    filter: { events: ['shop.updated'], since, until: until.toISOString() },
    typed: { since },
    by: OPERATOR,
    startedAt: new Date().toISOString(),
    planned: 90,
    begun: {},
    done: '',
    sent: {},
    skipped: { ofReplays: 0, forgotten: 0, tooOld: 0, payloadGone: 0 },
    refused: { count: 0, first: [] },
    damaged: [],
  };
}

/** Text of an attribute of a message. */
export const noted = ({ MessageAttributes = {} }: Message, name: string) =>
  MessageAttributes[name]?.StringValue;
