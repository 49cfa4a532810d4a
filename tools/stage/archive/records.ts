import * as z from 'zod/mini';
import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record.ts';
import { type EventName, isEventName } from '../../../lambda/contract/catalogue.ts';
import { replaySchema } from '../../../lambda/queue/replay.ts';
import type { Stage } from '../stage.ts';
import { settledOutcomes } from './filter.ts';
import { DamagedObjectError, objectLines } from './lines.ts';
import type { ArchivedObject } from './objects.ts';

const isTime = z.refine<string>((text) => !Number.isNaN(Date.parse(text)));

/** A record as it is read: what later versions add to it passes. */
const schema = z.looseObject({
  eventId: z.string(),
  event: z.custom<EventName>((value) => typeof value === 'string' && isEventName(value)),
  shopId: z.optional(z.string()),
  receivedAt: z.string().check(isTime),
  requestId: z.optional(z.string()),
  timestamp: z.optional(z.string()),
  outcome: z.custom<SettledOutcome>((value) => settledOutcomes.some((outcome) => outcome === value)),
  failureReason: z.optional(z.string()),
  attempt: z.number(),
  settledAt: z.string().check(isTime),
  replay: z.optional(replaySchema),
  body: z.optional(z.string()),
  payloadKey: z.optional(z.string()),
  forgottenAt: z.optional(z.string()),
});

/** @returns undefined where the line is no record */
export function parseRecord(line: Buffer): ArchiveRecord | undefined {
  try {
    return schema.safeParse(JSON.parse(line.toString())).data;
  } catch {
    return undefined;
  }
}

/**
 * The records of an object with the numbers of their lines, from 1, one after the other: memory stays flat. A line
 * that is no record spoils itself alone: those around it are delivered, and the error comes behind the last one.
 * Of an object that is cut off or no longer gzip, what stands before the damage is delivered, then the error comes.
 * Ends early once the signal is aborted: ask it.
 * @throws DamagedObjectError
 */
export async function* readObject(
  stack: Stage,
  { key }: ArchivedObject,
  signal?: AbortSignal,
): AsyncGenerator<{ line: number; record: ArchiveRecord }> {
  let line = 0;
  let firstDamaged: number | undefined;
  let damaged = 0;
  for await (const bytes of objectLines(stack, key, signal)) {
    line += 1;
    const record = parseRecord(bytes);
    if (record === undefined) {
      firstDamaged ??= line;
      damaged += 1;
    } else {
      yield { line, record };
    }
  }
  if (firstDamaged === undefined) return;
  const more = damaged === 1 ? '' : `, the first of ${damaged}`;
  throw new DamagedObjectError(key, firstDamaged, `line ${firstDamaged} is no record${more}`);
}
