import * as v from 'valibot';
import { eventNames } from '../events/catalogue.ts';
import type { DEAD_LETTERED, DUPLICATE, PROCESSED, STALE } from '../log-messages.ts';
import { replaySchema } from '../queue/replay.ts';

/** Prefix of the keys of all archive objects. The name of the event follows. */
export const RECORDS_PREFIX = 'event=';

/*
 * The schema of an archive record. No function loads this file at run time: functions write records and use only the
 * type. The parser of the commands, the JSON Schema in `docs/api` and the columns in Athena follow from the schema.
 */

/**
 * The outcome of a message. `Duplicate` may refer to an earlier attempt of the same message, which crashed or was not
 * archived after the effect, or to a request that the SDK repeated because the answer was lost.
 */
const outcomes = {
  Processed: 'the effect happened',
  Stale: 'newer data was already stored',
  Duplicate: 'this event was processed before',
  DeadLettered: 'it could not be processed and is on the dead-letter queue',
} as const satisfies Record<
  typeof PROCESSED | typeof STALE | typeof DUPLICATE | typeof DEAD_LETTERED,
  string
>;

/** The names of the outcomes, in the order in which commands show them. */
export const settledOutcomes = Object.keys(outcomes) as (keyof typeof outcomes)[];

const text = (description: string) => v.pipe(v.string(), v.description(description));

const time = (description: string) =>
  v.pipe(
    v.string(),
    v.check((value) => !Number.isNaN(Date.parse(value))),
    v.metadata({ format: 'date-time' }),
    v.description(description),
  );

/**
 * One settled message: a line of JSON in the archive. A message has a record each time it is settled: SQS may deliver it
 * twice, the archive may reject it at first, or somebody may redrive it. A new field must be optional, because older
 * records lack it.
 */
export const recordSchema = v.object({
  eventId: v.string(),
  event: v.pipe(v.picklist(eventNames), v.description('The kind of event.')),
  shopId: v.optional(
    text(
      'The shop, if the event names one and could be read. An id of more than 2,048 bytes is stored as `sha256:` and its hash.',
    ),
  ),
  receivedAt: time('When the receiver got the delivery.'),
  requestId: v.optional(v.string()),
  timestamp: v.optional(
    v.pipe(
      v.string(),
      v.metadata({ format: 'date-time' }),
      v.description(
        'The partner’s timestamp, always with nanoseconds. Absent if the event could not be read.',
      ),
    ),
  ),
  outcome: v.pipe(
    v.picklist(settledOutcomes),
    v.description(
      `What became of the message: ${Object.entries(outcomes)
        .map(([outcome, meaning]) => `\`${outcome}\`: ${meaning}`)
        .join('; ')}.`,
    ),
  ),
  failureReason: v.optional(text('Why it became a dead letter.')),
  attempt: v.pipe(
    v.number(),
    v.metadata({ type: 'integer', minimum: 1 }),
    v.description('How often the message had been received when it was settled.'),
  ),
  settledAt: time('When the outcome was certain.'),
  replay: v.optional(
    v.pipe(
      v.object({
        ...replaySchema.entries,
        notify: v.pipe(v.boolean(), v.description('Whether people are notified again.')),
      }),
      v.description('Only for a message that a replay sent: it has neither `body` nor `payloadKey`.'),
    ),
  ),
  body: v.optional(text('The partner’s JSON text.')),
  payloadKey: v.optional(
    text('Where the partner’s bytes are in the payload bucket, if they are too large for a message.'),
  ),
  forgottenAt: v.optional(
    time('When a person’s data was taken out: neither `body` nor `payloadKey` is left.'),
  ),
});

export type ArchiveRecord = Readonly<v.InferOutput<typeof recordSchema>>;

export type SettledOutcome = ArchiveRecord['outcome'];
