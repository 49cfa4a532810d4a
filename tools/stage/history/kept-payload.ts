import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { ArchiveObject } from '../archive/object.ts';
import { readPayload, storedPayload } from '../queues/payload.ts';
import { waitingMessages } from '../queues/waiting-messages.ts';
import type { Stage } from '../stage.ts';
import { bytesAsSent } from './aws-feed.ts';
import type { RecordFact } from './facts.ts';
import { fold } from './fold.ts';
import { findDelivery } from './trace.ts';
import { stateTitle } from './words.ts';

/** What the partner sent, and where it is kept. */
interface KeptPayload {
  readonly eventId: string;
  readonly event: string | undefined;
  readonly bytes: Uint8Array;
  /** For people: `the archive`, `the dead-letter queue of shop.updated`. */
  readonly from: string;
}

/**
 * Finds the bytes of a delivery by any of its ids: in the archive, or on a queue that waits for a person. Payloads that
 * are too large for either are in the payload bucket.
 * @returns undefined if it was interrupted
 * @throws CommandError if nothing, or more than one event, is found by the id, or if the bytes are not kept
 */
export async function keptPayload(
  stage: Stage,
  id: string,
  signal: AbortSignal,
): Promise<KeptPayload | undefined> {
  const found = await findDelivery(stage, id, { signal });
  if (found === undefined) return undefined;
  const { eventId, facts } = found;
  const { event, now } = fold(facts);
  const records = facts.filter((fact): fact is RecordFact => fact.kind === 'record');
  for (const record of records) {
    const bytes = (await archivedPayload(stage, record, signal))?.bytes;
    if (bytes !== undefined) return { eventId, event, bytes, from: 'the archive' };
  }
  const { messages } = await waitingMessages(stage, (one) => one.eventId === eventId, signal);
  for (const { queue, message, body } of messages) {
    const bytes =
      queue.kind === 'quarantine' || body === undefined
        ? await readPayload(stage, queue, message)
        : bytesAsSent(body, eventId);
    return { eventId, event, bytes, from: queue.title };
  }
  if (signal.aborted) return undefined;
  const { title } = stateTitle(now[0].state);
  throw new CommandError(
    `The bytes of event ${eventId} (${title.toLowerCase()}) are not kept. The archive has them some minutes after the event was processed, unless they were forgotten; queues have dead letters, quarantine and unknown kinds. A rejected request is kept nowhere`,
  );
}

/** The record of an event as the archive has it now, and its bytes, if they are still kept. A replay's record has none. */
export async function archivedPayload(
  stage: Stage,
  { object, record: { eventId, replay } }: RecordFact,
  signal: AbortSignal,
): Promise<{ readonly record: ArchiveRecord; readonly bytes: Uint8Array | undefined } | undefined> {
  if (replay !== undefined) return undefined;
  for await (const { record } of new ArchiveObject(stage, object, 0, signal).records()) {
    const { body, payloadKey } = record;
    if (record.eventId !== eventId || record.replay !== undefined) continue;
    if (body !== undefined) return { record, bytes: bytesAsSent(body, eventId) };
    return { record, bytes: payloadKey === undefined ? undefined : await storedPayload(stage, payloadKey) };
  }
  return undefined;
}
