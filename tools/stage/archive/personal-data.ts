import * as z from 'zod/mini';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import { parsePayloadText } from '../../../lambda/events/envelope.ts';
import { storedPayload } from '../queues/payload.ts';
import type { Stage } from '../stage.ts';
import { type ArchiveObject, parseLine } from './object.ts';
import { archiveDays } from './retention.ts';

const DAY = 24 * 60 * 60 * 1000;

/**
 * Days by which an object that nobody rewrote may outlive its records' term: Firehose tries for a day to write it, and S3
 * expires it at the midnight after. Sources: Firehose developer guide, "Handle data delivery failures"; S3 user guide,
 * "Lifecycle rules".
 */
const LATEST_EXPIRY_DAYS = 2;

/** Somebody whom events name, by the field `<kind>_id` of their data. */
export interface Person {
  readonly kind: 'user' | 'girl';
  readonly id: string;
}

/**
 * The fields of a record that matter here. Nothing is asked of the others, so that a record of an event that has left the
 * catalogue can be forgotten, too.
 */
const redactableSchema = z.looseObject(
  z.pick(recordSchema, { settledAt: true, body: true, payloadKey: true }).shape,
);

type RedactableRecord = z.infer<typeof redactableSchema>;

/**
 * Finds what the archive has to lose: payloads that name a person, and payloads of others that are beyond their retention.
 * S3 counts an object's retention from when it was written, so rewriting an object would keep the latter once more.
 */
export class PersonalData {
  /** Days for which the archive keeps a payload, from settling on; undefined if that cannot be known. */
  readonly days: number | undefined;
  /** Lines found that are no usable events. */
  asText = 0;
  readonly #stack: Stage;
  readonly #persons: readonly Person[];
  readonly #end: number;
  /** By key, once looked up: a payload is deleted before the records that name it are rewritten. */
  readonly #payloads = new Map<string, Promise<Mention | undefined>>();

  static async of(stack: Stage, persons: readonly Person[]): Promise<PersonalData> {
    return new PersonalData(stack, persons, await archiveDays(stack));
  }

  private constructor(stack: Stage, persons: readonly Person[], days: number | undefined) {
    this.#stack = stack;
    this.#persons = persons;
    this.days = days;
    this.#end = days === undefined ? Number.NEGATIVE_INFINITY : Date.now() - days * DAY;
  }

  /** What an object has to lose. Ask whether it was read to its end. */
  async in(object: ArchiveObject) {
    const payloadKeys = new Set<string>();
    let [records, asText, expired] = [0, 0, 0];
    let isOverdue = false;
    for await (const line of object.lines()) {
      const record = parseLine(redactableSchema, line);
      const mention = await this.#mention(line, record);
      if (mention !== undefined) {
        records += 1;
        if (mention === 'text') asText += 1;
        if (record?.payloadKey !== undefined) payloadKeys.add(record.payloadKey);
      } else if (record !== undefined && this.#isExpired(record)) {
        expired += 1;
        // If nobody had rewritten it, S3 would have deleted it.
        isOverdue ||= this.#isExpired(record, LATEST_EXPIRY_DAYS);
      }
    }
    // A damaged object stays as it is.
    if (object.damage === undefined) this.asText += asText;
    return { key: object.key, records, payloadKeys, expired, isOverdue };
  }

  /** The line without what the partner sent, and why. @returns undefined if the line stays as it is */
  async withoutPayload(line: Buffer, forgottenAt: string) {
    const record = parseLine(redactableSchema, line);
    const isNamed = (await this.#mention(line, record)) !== undefined;
    if (!isNamed && !(record !== undefined && this.#isExpired(record))) return undefined;
    // Nothing is left of a line that is no record.
    const { body, payloadKey, ...rest } = record ?? {};
    const end = line.at(-1) === 0x0a ? '\n' : '';
    return {
      line: Buffer.from(`${JSON.stringify({ ...rest, forgottenAt })}${end}`),
      reason: isNamed ? ('named' as const) : ('expired' as const),
    };
  }

  /** Whether it holds a payload beyond its retention. What is in the payload bucket expires by itself. */
  #isExpired({ settledAt, body }: RedactableRecord, moreDays = 0): boolean {
    return body !== undefined && Date.parse(settledAt) < this.#end - moreDays * DAY;
  }

  async #mention(line: Buffer, record: RedactableRecord | undefined): Promise<Mention | undefined> {
    if (record === undefined) return mentionInText(line.toString(), this.#persons);
    const { body, payloadKey } = record;
    if (payloadKey === undefined) return body === undefined ? undefined : mentionIn(body, this.#persons);
    const known = this.#payloads.get(payloadKey) ?? this.#look(payloadKey);
    this.#payloads.set(payloadKey, known);
    return known;
  }

  async #look(key: string): Promise<Mention | undefined> {
    const payload = await storedPayload(this.#stack, key);
    return payload && mentionIn(payload.toString(), this.#persons);
  }
}

/**
 * How a payload names somebody: `field` in the field for it; `text` anywhere, if the payload is no usable event and may have
 * its ids anywhere.
 */
type Mention = 'field' | 'text';

/** @returns undefined if the payload names none of them */
function mentionIn(payload: string, persons: readonly Person[]): Mention | undefined {
  // Nearly all payloads end here: parsing takes the time. A backslash may escape an id.
  const possible = persons.filter(({ id }) => payload.includes(id) || payload.includes('\\'));
  if (possible.length === 0) return undefined;
  const data = dataOf(payload);
  const fields = possible.map(({ kind }) => data[`${kind}_id`]);
  if (possible.some(({ id }, index) => isId(fields[index]) && String(fields[index]) === id)) return 'field';
  // A number above 2^53 is read as one of its neighbours.
  const isExact = fields.every((field) => typeof field !== 'number' || Number.isSafeInteger(field));
  if (isExact && parsePayloadText(payload).kind !== 'unusable') return undefined;
  return mentionInText(payload, possible);
}

/** Looks for whole ids: one that is part of a longer word or number is another id. */
function mentionInText(text: string, persons: readonly Person[]): Mention | undefined {
  const found = persons
    .flatMap(({ id }) => [id, JSON.stringify(id).slice(1, -1)])
    .some((id) => new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(id)}(?![\\p{L}\\p{N}])`, 'u').test(text));
  return found ? 'text' : undefined;
}

const isId = (value: unknown) => typeof value === 'string' || Number.isSafeInteger(value);

function dataOf(payload: string): Record<string, unknown> {
  try {
    const { data } = JSON.parse(payload) as { data?: unknown };
    return typeof data === 'object' && data !== null ? { ...data } : {};
  } catch {
    return {};
  }
}
