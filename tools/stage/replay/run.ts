import { HeadObjectCommand } from '@aws-sdk/client-s3';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { matches, type RecordFilter } from '../archive/filter.ts';
import { DamagedObjectError } from '../archive/lines.ts';
import { type ArchivedObject, archiveObjects } from '../archive/objects.ts';
import { readObject } from '../archive/records.ts';
import { sourceQueueUrl } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';
import { Backlog } from './backlog.ts';
import { InOrder } from './in-order.ts';
import type { Ledger, Part, Unsent } from './ledger.ts';
import { type ReplayMessage, replayMessage } from './message.ts';
import type { Pace } from './pace.ts';
import { BATCH_BYTES, BATCH_MESSAGES, type Refusal, sendBatch } from './sender.ts';
import { skipOf } from './tally.ts';

/** Batches that are under way at a time: at 30 ms each, some 5,000 messages a second. */
const BATCHES_AT_A_TIME = 16;

/** Records that are skipped until that is noted, too. */
const SKIPS_OF_A_PART = 1_000;

interface RunOptions {
  readonly stack: Stage;
  readonly replay: Replay;
  readonly filter: RecordFilter;
  readonly ledger: Ledger;
  readonly pace: Pace;
  /** Ends it where nothing is half done. */
  readonly signal: AbortSignal;
  /** Told what it waits for; undefined once it goes on. */
  readonly onHold: (reason: string | undefined) => void;
}

/**
 * Sends what the archive has, and the ledger not: object by object, each line by line.
 * @throws CommandError where SQS does not take a message, or a consumer fails; nothing behind it is noted as done then
 */
export async function sendRecords(options: RunOptions): Promise<void> {
  const { stack, filter, ledger, signal } = options;
  const line = new InOrder(BATCHES_AT_A_TIME);
  const backlogs = new Map<EventName, Backlog>();
  try {
    for await (const object of archiveObjects(stack, filter)) {
      if (signal.aborted) break;
      if (!ledger.done.has(object.key)) await sendObject(object, options, line, backlogs);
    }
  } catch (error) {
    // What is under way is let end, and noted.
    await line.end().catch(() => {});
    if (!signal.aborted) throw error;
    return;
  }
  await line.end().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** Records of an object in a row, of which some are to be sent. */
class Stretch {
  readonly messages: ReplayMessage[] = [];
  readonly skipped: Unsent[] = [];
  line = 0;
  #bytes = 0;

  add(message: ReplayMessage, line: number): void {
    this.messages.push(message);
    this.#bytes += message.bytes;
    this.line = line;
  }

  skip(reason: Unsent, line: number): void {
    this.skipped.push(reason);
    this.line = line;
  }

  isFullFor({ bytes }: ReplayMessage, most: number): boolean {
    const { length } = this.messages;
    return length >= most || (length > 0 && this.#bytes + bytes > BATCH_BYTES);
  }
}

async function sendObject(
  object: ArchivedObject,
  { stack, replay, filter, ledger, pace, signal, onHold }: RunOptions,
  line: InOrder,
  backlogs: Map<EventName, Backlog>,
): Promise<void> {
  const { key, event } = object;
  const queueUrl = sourceQueueUrl(stack, event);
  if (queueUrl === undefined) throw new CommandError(`There is no queue of ${event} in ${stack.title}`);
  const backlog = backlogs.get(event) ?? new Backlog(stack.sqs, queueUrl, event);
  backlogs.set(event, backlog);
  const most = Math.min(BATCH_MESSAGES, pace.burst);

  async function send({ messages, skipped, line: last }: Stretch): Promise<void> {
    if (messages.length > 0) {
      await backlog.room(messages.length, signal, (reason) => onHold(`holds: ${reason}`));
      onHold(undefined);
      await pace.take(messages.length, signal);
    }
    await line.add(
      async () => (messages.length > 0 ? await sendBatch(stack.sqs, queueUrl ?? '', messages, signal) : []),
      noteOf(ledger, { key, event, line: last, skipped }, messages.length),
    );
  }

  const from = ledger.lineOf(key);
  let damage: string | undefined;
  let stretch = new Stretch();
  try {
    for await (const { line: number, record } of readObject(stack, object, signal)) {
      if (number <= from || !matches(filter, record)) continue;
      const reason = skipOf(record) ?? (await payloadGone(stack, record));
      if (reason !== undefined) {
        stretch.skip(reason, number);
        if (stretch.skipped.length < SKIPS_OF_A_PART) continue;
        await send(stretch);
        stretch = new Stretch();
        continue;
      }
      const message = replayMessage(record, replay);
      if (stretch.isFullFor(message, most)) {
        await send(stretch);
        stretch = new Stretch();
      }
      stretch.add(message, number);
    }
  } catch (error) {
    if (!(error instanceof DamagedObjectError)) throw error;
    damage = error.message;
  }
  // What Ctrl-C left in hand is not sent, and not noted.
  if (signal.aborted) return;
  if (stretch.line > 0) await send(stretch);
  await line.add(
    async () => {},
    () => ledger.noteObject(key, damage),
  );
}

/** Notes a part. A function of its own, as what is made beside a batch keeps its messages while it waits to be called. */
function noteOf(ledger: Ledger, part: Omit<Part, 'sent' | 'refused'>, messages: number) {
  return (refused: readonly Refusal[]) => ledger.note({ ...part, sent: messages - refused.length, refused });
}

/** Its consumer could only find out the same, in three hours of attempts. */
async function payloadGone(
  { s3, outputs }: Stage,
  { body, payloadKey }: ArchiveRecord,
): Promise<'payloadGone' | undefined> {
  if (payloadKey === undefined) return body === undefined ? 'payloadGone' : undefined;
  try {
    await s3.send(new HeadObjectCommand({ Bucket: outputs.PayloadBucket, Key: payloadKey }));
    return undefined;
  } catch (error) {
    if (error instanceof Error && error.name === 'NotFound') return 'payloadGone';
    throw error;
  }
}
