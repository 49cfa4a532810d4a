import * as z from 'zod/mini';
import { type EventName, isEventName } from '../../../lambda/contract/catalogue.ts';
import { REPLAY_NAME, replayModes } from '../../../lambda/queue/replay.ts';
import { isReason, LONGEST_REASON } from '../../stage/queues/pause-state.ts';
import { FASTEST_RATE } from '../../stage/replay/pace.ts';
import type { TaskRequest } from '../api.ts';
import { parse } from './request-json.ts';

/** Ids of one redrive or replay. */
const MOST_IDS = 10_000;

/** Characters of what is typed into a field of one line. */
const LONGEST_TEXT = 2_048;

const event = z.custom<EventName>((value) => typeof value === 'string' && isEventName(value), {
  error: 'must be an event that there is',
});
const text = z.string().check(z.minLength(1), z.maxLength(LONGEST_TEXT));
const ids = z.array(text).check(z.minLength(1), z.maxLength(MOST_IDS));

const action = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('send'), event }),
  z.strictObject({ kind: z.literal('resend'), id: text }),
  // Of any length that the server takes: that it may be too long is what one may want to try.
  z.strictObject({ kind: z.literal('send-text'), body: z.string() }),
  z.strictObject({ kind: z.literal('redrive'), queue: text, ids: z.optional(ids) }),
  z.strictObject({
    kind: z.literal('pause'),
    event,
    reason: z
      .string()
      .check(
        z.trim(),
        z.refine(isReason, { error: `must be one line of 1 to ${LONGEST_REASON} characters` }),
      ),
  }),
  z.strictObject({ kind: z.literal('resume'), event }),
  z.strictObject({
    kind: z.literal('replay'),
    dryRun: z.boolean(),
    events: z.array(event),
    since: z.optional(text),
    until: z.optional(text),
    ids: z.optional(ids),
    shop: z.optional(text),
    mode: z.optional(z.enum(replayModes)),
    notify: z.optional(z.boolean()),
    rate: z.optional(z.int().check(z.gte(1), z.lte(FASTEST_RATE))),
    name: z.optional(
      z.string().check(
        z.regex(REPLAY_NAME, {
          error: 'must be 1 to 63 lower-case letters, digits and hyphens, and not begin with a hyphen',
        }),
      ),
    ),
  }),
]);

const schema = z.strictObject({ action, confirmed: z.boolean() });

/** @throws Problem that names the first field that is wrong */
export const parseTaskRequest = (value: unknown): TaskRequest => parse(schema, value);
