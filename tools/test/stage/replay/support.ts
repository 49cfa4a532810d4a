import type { Message } from '@aws-sdk/client-sqs';
import { afterEach } from '@jest/globals';
import type { ArchiveRecord } from '../../../../lambda/archive/record-schema.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { replay } from '../../../stage/replay/replay.ts';
import type { ReplayOptions } from '../../../stage/replay/replay-plan.ts';
import type { Stage } from '../../../stage/stage.ts';
import type { ProgressStep } from '../../../terminal/progress.ts';
import { archived, emptyArchive, objectKey, putObject, putRecords } from '../archive/support.ts';
import { type Operator, startedOperator } from '../queues/support.ts';

export const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

/** The default window ends half an hour ago, so that Firehose has written all of it. */
export const SINCE = minutesAgo(180);
const UNTIL = minutesAgo(30);

interface Meanwhile {
  readonly signal?: AbortSignal;
  /** The stack, with AWS clients that the test replaced. */
  readonly stack?: Stage;
  /** Collects the texts that the progress display shows. */
  readonly shown?: string[];
}

/** Starts AWS and somebody who replays, for the tests of a file. The archive and the queues are emptied after each. */
export function startedReplayer(): { readonly aws: TestAws; readonly replayer: Replayer } {
  const started = startedOperator();
  afterEach(() => new Replayer(started.operator).empty());
  return {
    get aws() {
      return started.aws;
    },
    get replayer() {
      return new Replayer(started.operator);
    },
  };
}

/** An operator who replays what a test has put into the archive. */
export class Replayer {
  readonly operator: Operator;

  constructor(operator: Operator) {
    this.operator = operator;
  }

  /** Puts an object of records from an hour ago. @returns its key */
  async archive(name: string, records: readonly Partial<ArchiveRecord>[]): Promise<string> {
    const time = minutesAgo(60).toISOString();
    const whole = records.map((record) => archived({ receivedAt: time, settledAt: time, ...record }));
    const key = objectKey(name, whole[0]?.event, time.slice(0, 13));
    await putRecords(this.operator.stack, key, whole);
    return key;
  }

  /** Puts any bytes as an object of shop.updated from an hour ago. @returns its key */
  async archiveBytes(name: string, bytes: Buffer): Promise<string> {
    const key = objectKey(name, 'shop.updated', minutesAgo(60).toISOString().slice(0, 13));
    await putObject(this.operator.stack, key, bytes);
    return key;
  }

  /** Replays at once and without a question. */
  async replay(
    asked: Partial<ReplayOptions> = {},
    { signal = new AbortController().signal, stack = this.operator.stack, shown = [] }: Meanwhile = {},
  ) {
    const operation = this.operator.operation(signal);
    const show = ({ doing, note = '' }: ProgressStep) => shown.push(`${doing} ${note}`);
    const progress = { show, end: () => {} };
    const usual = { name: 'test', events: [], rate: 10_000, dryRun: false, yes: true };
    const options = { ...usual, since: SINCE, until: UNTIL, ...asked };
    const done = await replay({ ...operation, stack, progress }, options);
    return { done, said: operation.said.join('\n'), shown, reported: operation.reported };
  }

  /** Receives and deletes everything on a queue. */
  taken(output: string): Promise<Message[]> {
    return this.operator.queues.takeAll(this.operator.outputs[output]);
  }

  /** The shops on shop.updated's queue, in order. Deletes the messages. */
  async shops(): Promise<string[]> {
    const messages = await this.taken('ShopUpdatedQueueUrl');
    return messages.map(({ Body = '' }) => JSON.parse(Body).data.shop_id).sort();
  }

  async empty(): Promise<void> {
    await Promise.all([emptyArchive(this.operator.stack), this.operator.empty()]);
  }
}

/** Records of shop.updated with different bodies. @param first number of the first */
export function numbered(count: number, first = 0): Partial<ArchiveRecord>[] {
  return Array.from({ length: count }, (_, index) => {
    const shopId = `shop-${first + index}`;
    const data = { shop_id: shopId };
    const body = JSON.stringify({ event: 'shop.updated', data, timestamp: '2026-01-31T09:00:00Z' });
    return { eventId: sha256Hex(body), shopId, body, requestId: `request-${first + index}` };
  });
}
