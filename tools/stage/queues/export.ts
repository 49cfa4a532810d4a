import { messages } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { HeldMessage } from './message.ts';
import { type PayloadFields, payloadFields } from './payload.ts';
import { type AnyQueue, queueState } from './queue.ts';
import { emptiness } from './show.ts';
import { walk } from './walk.ts';

/** One line of an export. */
interface ExportedMessage extends PayloadFields {
  readonly queue: string;
  readonly messageId: string;
  /** ISO 8601. */
  readonly sentAt: string;
  readonly attributes: Readonly<Record<string, string>>;
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
    ...(await payloadFields(stack, queue, message)),
  };
}
