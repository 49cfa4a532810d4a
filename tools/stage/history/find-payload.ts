import { CommandError } from '../../terminal/command-error.ts';
import { readPayload } from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { waitingMessages } from './dead-letters.ts';
import { deriveHistory } from './derive-history.ts';
import { ofKind } from './facts.ts';
import { findFacts } from './find-facts.ts';
import { bytesAsSent, storedRecord } from './records.ts';
import { stateTitle } from './state-text.ts';

/**
 * Finds the bytes of a delivery by any of its ids: in the archive, or on a queue that nothing consumes. A payload that
 * is too large for both is in the payload bucket.
 * @returns the bytes, and a text that says where they are stored; undefined if it was interrupted
 * @throws CommandError if the id matches no event or more than one, or if the bytes are not stored
 */
export async function findPayload(stage: Stage, id: string, signal: AbortSignal) {
  const found = await findFacts(stage, id, { signal });
  if (found === undefined) return undefined;
  const { eventId, facts } = found;
  const { event, now } = deriveHistory(facts);
  for (const fact of ofKind(facts, 'record')) {
    const bytes = (await storedRecord(stage, fact, signal))?.bytes;
    if (bytes !== undefined) return { eventId, event, bytes, from: 'the archive' };
  }
  const { messages } = await waitingMessages(stage, (one) => one.eventId === eventId, signal);
  for (const { queue, message, body } of messages) {
    const { bytes, unreadable } =
      queue.kind === 'quarantine' || body === undefined
        ? await readPayload(stage, queue, message)
        : { bytes: bytesAsSent(body, eventId) };
    if (bytes === undefined) throw new CommandError(`The bytes of event ${eventId} are gone: ${unreadable}`);
    return { eventId, event, bytes, from: queue.title };
  }
  if (signal.aborted) return undefined;
  const [{ state }] = now;
  throw new CommandError(
    state === 'rejected' || state === 'failed'
      ? 'It was not accepted, so its bytes were not stored and cannot be sent again'
      : `The bytes of event ${eventId} (${stateTitle(state).title.toLowerCase()}) are not stored. The archive has them some minutes after the event was processed, unless they were forgotten`,
  );
}
