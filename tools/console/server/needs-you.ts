import { eventAndShop, payloadPreview } from '../../stage/payload-filter.ts';
import { forEachMessage } from '../../stage/queues/for-each-message.ts';
import { type WaitingQueue, waitingQueues } from '../../stage/queues/queue.ts';
import {
  bytesInMessage,
  copyKey,
  describeMessage,
  type ReadMessage,
  readPayload,
} from '../../stage/queues/received-message.ts';
import { groupCopies } from '../../stage/queues/selected-messages.ts';
import type { NeedsYouMessage, WaitingMessages } from '../api.ts';
import { ApiProblem, PartialFailures } from './api-problem.ts';
import type { ConsoleContext } from './console-context.ts';

/**
 * Maximum number of messages of a queue to list. On a stage each call receives 10, and hides them from others
 * meanwhile.
 */
const MAX_READ = 500;

/** The messages that wait for a person. Deletes none. */
export class NeedsYou {
  readonly #console: ConsoleContext;
  readonly #isBusy: (queue: string) => boolean;
  /** The reading under way, for all who ask meanwhile: on a stage, a second reader would miss what the first hides. */
  #reading: Promise<WaitingMessages> | undefined;
  /** The messages of the last reading, by their ids. */
  #known = new Map<string, ReadMessage>();

  /** @param isBusy whether a command works on the messages of a queue. On a stage, reading would hide them from it */
  constructor(context: ConsoleContext, isBusy: (queue: string) => boolean) {
    this.#console = context;
    this.#isBusy = isBusy;
  }

  /** @throws ApiProblem in read-only mode, if reading means receiving messages, which hides them for some time */
  read(): Promise<WaitingMessages> {
    const { local, readOnly } = this.#console;
    if (readOnly && local === undefined) {
      const why =
        'SQS shows a message only to a client that receives it, which counts and hides it for a while';
      throw new ApiProblem(403, `${why}. To see them, start the console without --read-only`);
    }
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Resolves when no reading is under way. */
  async idle(): Promise<void> {
    await this.#reading?.catch(() => {});
  }

  /** The bytes that the partner sent. @throws ApiProblem if they are no longer stored */
  async payload(id: string): Promise<Buffer> {
    const { stage } = this.#console.source;
    const known = this.#known.get(id);
    if (known === undefined)
      throw new ApiProblem(404, 'The last list does not have this message. Load it again');
    const { bytes, unreadable } = await readPayload(stage, known);
    if (bytes === undefined) throw new ApiProblem(404, unreadable);
    return bytes;
  }

  async #read(): Promise<WaitingMessages> {
    const { source } = this.#console;
    const problems = new PartialFailures();
    const limited: string[] = [];
    const known = new Map<string, ReadMessage>();
    const ofQueues = await Promise.all(
      waitingQueues(source.stage).map(async (queue) => {
        const listed: ReturnType<typeof listedMessage>[] = [];
        const reading = this.#visit(queue, (message) => {
          known.set(message.id, message);
          listed.push(listedMessage(message));
        });
        if (await problems.unless(queue.title, reading)) limited.push(queue.name);
        return groupCopies(listed).map(({ key: _, ...shown }): NeedsYouMessage => shown);
      }),
    );
    this.#known = known;
    return { messages: ofQueues.flat(), limited, problems: problems.lines };
  }

  /** @returns whether the queue may have more messages */
  async #visit(queue: WaitingQueue, visit: (message: ReadMessage) => void): Promise<boolean> {
    const { source, local, closing: signal } = this.#console;
    if (local !== undefined) {
      const all = await local.stack.inspectQueue(queue.url);
      for (const message of all.slice(0, MAX_READ)) visit({ queue, ...message });
      return all.length > MAX_READ;
    }
    if (this.#isBusy(queue.name))
      throw new ApiProblem(409, 'a command works on it. Try again when it has ended');
    const options = { signal, limit: MAX_READ };
    const { limited } = await forEachMessage(source.stage, queue, options, async (message) => {
      visit(message);
      return 'stays';
    });
    return limited;
  }
}

/** A message for the list, without its payload, which may have 1 MiB. */
function listedMessage(message: ReadMessage) {
  const { messageId: id, payloadKey, reason, sentAt, eventId, requestId } = describeMessage(message);
  const isLarge = payloadKey !== undefined;
  const payload = bytesInMessage(message) ?? (isLarge ? undefined : Buffer.from(message.body));
  const { shopId } = payload === undefined ? {} : eventAndShop(payload);
  const preview = payload && payloadPreview(payload);
  const about = { id, queue: message.queue.name, reason, sentAt, eventId, shopId, requestId, preview };
  return { ...about, key: copyKey(message) };
}
