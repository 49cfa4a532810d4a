import * as v from 'valibot';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import { parsePayloadText } from '../../../lambda/events/envelope.ts';
import { isObject, jsonOf } from '../history/json.ts';
import { storedPayload } from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { type ArchiveObject, parseLine } from './archive-object.ts';
import { archiveDays } from './retention.ts';

const DAY = 24 * 60 * 60 * 1000;

/**
 * Days that an object may outlive the retention of its records if nobody rewrites it: Firehose retries for one day, and
 * S3 expires objects at the following midnight. Sources: Firehose developer guide, "Handle data delivery failures"; S3
 * user guide, "Lifecycle rules".
 */
const LATEST_EXPIRY_DAYS = 2;

/** A person whom events name in the field `<kind>_id` of their data. */
export interface Person {
  readonly kind: 'user' | 'girl';
  readonly id: string;
}

export type FoundInObject = Awaited<ReturnType<PersonalData['in']>>;

/**
 * The fields of a record that `forget` needs, and no others, so that the command also works for events that are no
 * longer in the catalogue.
 */
const redactableSchema = v.looseObject(v.pick(recordSchema, ['settledAt', 'body', 'payloadKey']).entries);

type RedactableRecord = v.InferOutput<typeof redactableSchema>;

/**
 * Finds payloads to remove from the archive: those that name a person, and other payloads past their retention. S3
 * counts the retention from the last write, so rewriting an object would keep expired payloads for another term.
 */
export class PersonalData {
  /** Days for which the archive keeps a payload after it was settled. Undefined if unknown. */
  readonly days: number | undefined;
  /** Number of lines that name a person, but are not usable events. */
  asText = 0;
  readonly #stack: Stage;
  readonly #persons: readonly Person[];
  readonly #end: number;
  /**
   * Whether a payload names a person, by the payload's key in its bucket. The answers are cached, because a payload is
   * deleted before the records that refer to it are rewritten.
   */
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

  /** Finds what to remove from an object. The caller must check that the object was read to its end. */
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
        // The object is older than S3 keeps objects, so somebody has rewritten it, which restarted its expiry.
        isOverdue ||= this.#isExpired(record, LATEST_EXPIRY_DAYS);
      }
    }
    // `forget` does not change a damaged object.
    if (object.damage === undefined) this.asText += asText;
    return { key: object.key, records, payloadKeys, expired, isOverdue };
  }

  /**
   * The line without the partner's data, and the reason for the change.
   * @returns undefined if the line stays unchanged
   */
  async withoutPayload(line: Buffer, forgottenAt: string) {
    const record = parseLine(redactableSchema, line);
    const isNamed = (await this.#mention(line, record)) !== undefined;
    if (!isNamed && !(record !== undefined && this.#isExpired(record))) return undefined;
    // If the line is not a record, only `forgottenAt` is left.
    const { body, payloadKey, ...rest } = record ?? {};
    const end = line.at(-1) === 0x0a ? '\n' : '';
    return {
      line: Buffer.from(`${JSON.stringify({ ...rest, forgottenAt })}${end}`),
      reason: isNamed ? ('named' as const) : ('expired' as const),
    };
  }

  /** Whether the record contains a payload past its retention. Objects in the payload bucket expire automatically. */
  #isExpired({ settledAt, body }: RedactableRecord, moreDays = 0): boolean {
    return body !== undefined && Date.parse(settledAt) < this.#end - moreDays * DAY;
  }

  async #mention(line: Buffer, record: RedactableRecord | undefined): Promise<Mention | undefined> {
    if (record === undefined) return mentionInText(line.toString(), this.#persons);
    const { body, payloadKey } = record;
    if (payloadKey === undefined) return body === undefined ? undefined : mentionIn(body, this.#persons);
    const known = this.#payloads.get(payloadKey) ?? this.#findMention(payloadKey);
    this.#payloads.set(payloadKey, known);
    return known;
  }

  async #findMention(key: string): Promise<Mention | undefined> {
    const payload = await storedPayload(this.#stack, key);
    return payload && mentionIn(payload.toString(), this.#persons);
  }
}

/**
 * How a payload names a person. `field`: in the expected field. `text`: anywhere, because the payload is not a usable
 * event.
 */
type Mention = 'field' | 'text';

/** Notations in which JSON may hide an id: escaped characters, and numbers such as `1.2345678E7`. */
const OTHER_NOTATION = /\\|"\s*:\s*-?\d+[.eE]/;

export function mentionIn(payload: string, persons: readonly Person[]): Mention | undefined {
  // A fast check, because parsing is slow and most payloads do not match.
  const possible = persons.filter(({ id }) => payload.includes(id) || OTHER_NOTATION.test(payload));
  if (possible.length === 0) return undefined;
  const data = dataOf(payload);
  const fields = possible.map(({ kind }) => data[`${kind}_id`]);
  if (possible.some(({ id }, index) => isId(fields[index]) && String(fields[index]) === id)) return 'field';
  // Numbers above 2^53 lose precision when parsed.
  const isExact = fields.every((field) => typeof field !== 'number' || Number.isSafeInteger(field));
  if (isExact && parsePayloadText(payload).kind !== 'unusable') return undefined;
  return mentionInText(payload, possible);
}

/** A number of JSON that is no part of a longer word or number. */
const JSON_NUMBER = /(?<![\p{L}\p{N}.])-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\p{L}\p{N}])/gu;

/** Matches whole ids only, not parts of a longer word or number. */
function mentionInText(text: string, persons: readonly Person[]): Mention | undefined {
  const numbers = new Set(text.match(JSON_NUMBER)?.map((number) => String(Number(number))));
  const found = persons.some(
    ({ id }) =>
      (numbers.has(id) && Number.isSafeInteger(Number(id))) ||
      [id, JSON.stringify(id).slice(1, -1)].some((form) =>
        new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(form)}(?![\\p{L}\\p{N}])`, 'u').test(text),
      ),
  );
  return found ? 'text' : undefined;
}

const isId = (value: unknown) => typeof value === 'string' || Number.isSafeInteger(value);

function dataOf(payload: string): Record<string, unknown> {
  const event = jsonOf(payload);
  return isObject(event) && isObject(event.data) ? event.data : {};
}
