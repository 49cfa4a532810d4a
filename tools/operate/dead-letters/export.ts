import { isUtf8 } from 'node:buffer';
import { messages } from '../../terminal/text.ts';
import type { HeldMessage } from './message.ts';
import type { Operation } from './operation.ts';
import { readPayload, UnreadablePayloadError } from './payload.ts';
import { type AnyQueue, queueState } from './queue.ts';
import { emptiness } from './show.ts';
import { walk } from './walk.ts';

/** One line of an export. */
interface ExportedMessage {
  readonly queue: string;
  readonly messageId: string;
  /** ISO 8601. */
  readonly sentAt: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** What the partner sent, where it is text. */
  readonly body?: string;
  /** What the partner sent, where it is not. */
  readonly bodyBase64?: string;
  /** Why neither is here. */
  readonly unreadable?: string;
}

/**
 * `export`: every message of a queue as a line of JSON, with what the partner sent. Removes nothing.
 * @param write takes one line at a time
 * @returns whether every message is there with its payload
 */
export async function exportMessages(
  operation: Operation,
  queue: AnyQueue,
  write: (line: string) => Promise<void>,
): Promise<boolean> {
  const { stack, signal, say } = operation;
  const state = await queueState(stack.sqs, queue.url);
  let unreadable = 0;
  const { seen, limited } = await walk(stack, queue.url, { signal }, async (message) => {
    const exported = await exportedMessage(operation, queue, message);
    if (exported.unreadable !== undefined) unreadable += 1;
    await write(`${JSON.stringify(exported)}\n`);
    return 'kept';
  });
  if (signal.aborted) {
    say(
      `Interrupted after ${messages(seen)}: the export is incomplete. Nothing was removed from ${queue.title}.`,
    );
    return false;
  }
  if (seen === 0) {
    say(`Nothing to export: ${emptiness(queue, state)}`);
    return true;
  }
  say(`Exported ${messages(seen)} of ${queue.title}; nothing was removed.`);
  if (unreadable > 0) say(`${messages(unreadable)} without their payload: see "unreadable".`);
  if (limited || seen < state.visible) say(`There may be more: SQS counted ${state.visible} at the start.`);
  return unreadable === 0;
}

async function exportedMessage(
  { stack }: Operation,
  queue: AnyQueue,
  message: HeldMessage,
): Promise<ExportedMessage> {
  const attributes = Object.fromEntries(
    Object.entries(message.attributes).map(([name, { StringValue, BinaryValue }]) => [
      name,
      StringValue ?? Buffer.from(BinaryValue ?? []).toString('base64'),
    ]),
  );
  return {
    queue: queue.name,
    messageId: message.id,
    sentAt: message.sentAt.toISOString(),
    attributes,
    ...(await payload()),
  };

  async function payload() {
    try {
      const bytes = await readPayload(stack, queue, message);
      return isUtf8(bytes) ? { body: bytes.toString() } : { bodyBase64: bytes.toString('base64') };
    } catch (error) {
      if (error instanceof UnreadablePayloadError) return { unreadable: error.message };
      throw error;
    }
  }
}
