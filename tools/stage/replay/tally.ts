import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/queue/replay.ts';

/** Why a record is not sent: it is a replay's own, a person's data was taken out of it, or it came too long ago. */
export type Skip = 'ofReplays' | 'forgotten' | 'tooOld';

const DAY = 24 * 60 * 60 * 1000;

/** @returns undefined of a record that has what is to be sent */
export function skipOf(record: ArchiveRecord): Skip | undefined {
  if (record.replay !== undefined) return 'ofReplays';
  if (record.forgottenAt !== undefined) return 'forgotten';
  if (Date.parse(record.receivedAt) < Date.now() - REPLAYABLE_RECEIPT_DAYS * DAY) return 'tooOld';
  return undefined;
}

/** Counts records of the archive: those to send, by event and outcome, and those to skip. */
export class Tally {
  readonly byEvent = new Map<EventName, Map<SettledOutcome, number>>();
  readonly skipped: Record<Skip, number> = { ofReplays: 0, forgotten: 0, tooOld: 0 };
  messages = 0;
  /** Of the bodies that messages hold. */
  bytes = 0;
  /** Messages whose payload is in the payload bucket. */
  oversize = 0;
  /** The first and the last `settledAt` of those to send. */
  first: string | undefined;
  last: string | undefined;

  add(record: ArchiveRecord): void {
    const skip = skipOf(record);
    if (skip !== undefined) {
      this.skipped[skip] += 1;
      return;
    }
    const { event, outcome, settledAt, body = '' } = record;
    this.#count(event, outcome, 1);
    this.messages += 1;
    this.bytes += Buffer.byteLength(body);
    if (record.payloadKey !== undefined) this.oversize += 1;
    this.#extend(settledAt, settledAt);
  }

  merge(other: Tally): void {
    for (const [event, outcomes] of other.byEvent) {
      for (const [outcome, count] of outcomes) this.#count(event, outcome, count);
    }
    this.skipped.ofReplays += other.skipped.ofReplays;
    this.skipped.forgotten += other.skipped.forgotten;
    this.skipped.tooOld += other.skipped.tooOld;
    this.messages += other.messages;
    this.bytes += other.bytes;
    this.oversize += other.oversize;
    if (other.first !== undefined && other.last !== undefined) this.#extend(other.first, other.last);
  }

  /** Messages of an event. */
  of(event: EventName): number {
    return [...(this.byEvent.get(event)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  }

  #count(event: EventName, outcome: SettledOutcome, count: number): void {
    const outcomes = this.byEvent.get(event) ?? new Map<SettledOutcome, number>();
    this.byEvent.set(event, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count));
  }

  #extend(first: string, last: string): void {
    if (this.first === undefined || first < this.first) this.first = first;
    if (this.last === undefined || last > this.last) this.last = last;
  }
}
