import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import type { EffectOutcome } from './outcome.ts';

/**
 * How long an event is remembered, in seconds: 90 days, as long as a tombstone. A replay after it
 * would notify again, so none reaches so far back (`REPLAYABLE_DAYS`).
 */
const MEMORY_SECONDS = 90 * 24 * 60 * 60;

/** An effect of which the note cannot be written is repeated: the note is worth more attempts than the effect. */
const NOTE_ATTEMPTS = 5;

/** Carries out an effect for an id, unless that was done before. */
type Once<Id, Input> = (id: Id, input: Input, context: Context) => Promise<EffectOutcome>;

/**
 * Makes an effect that cannot be repeated happen once for each event id. Where the function dies
 * between the effect and the note of it, the effect is repeated: no service can close that window.
 * @param name keeps the ids of one kind apart from those of another
 */
export function oncePerEvent<Input>(
  name: string,
  effect: (input: Input, context: Context) => Promise<EffectOutcome>,
): Once<string, Input> {
  const config = new IdempotencyConfig({
    expiresAfterSeconds: MEMORY_SECONDS,
    responseHook: () => 'Duplicate' satisfies EffectOutcome,
  });
  const once = makeIdempotent((_eventId: string, input: Input, context: Context) => effect(input, context), {
    keyPrefix: name,
    config,
    persistenceStore: new DynamoDBPersistenceLayer({
      tableName: requireEnvironment(['IDEMPOTENCY_TABLE']).IDEMPOTENCY_TABLE,
      awsSdkV3Client: new DynamoDBClient({ ...clientSettings, maxAttempts: NOTE_ATTEMPTS }),
    }),
  });
  return (eventId, input, context) => {
    // A note of an effect under way is void once the function that made it must have ended.
    config.registerLambdaContext(context);
    return once(eventId, input, context);
  };
}

/** Names what is done again: an event's effect, by a replay of this name. */
export interface Repetition {
  readonly eventId: string;
  /** Name of the replay. */
  readonly replay: string;
}

/**
 * Makes an effect happen once more for each name of a replay, whether or not it happened before. Of an event that
 * had no effect yet it is the ordinary one, and noted as such, so that a repeated delivery does not have it again.
 * Where the function dies between the effect and the last of both notes, the effect is repeated.
 * @param once the effect as of `oncePerEvent`, under the same name
 */
export function oncePerReplay<Input>(
  name: string,
  effect: (input: Input) => Promise<EffectOutcome>,
  once: Once<string, Input>,
): Once<Repetition, Input> {
  interface Repeated {
    readonly eventId: string;
    readonly input: Input;
  }
  const again = oncePerEvent(`${name}.replay`, async ({ eventId, input }: Repeated, context) => {
    const outcome = await once(eventId, input, context);
    return outcome === 'Duplicate' ? await effect(input) : outcome;
  });
  return ({ eventId, replay }, input, context) => again(`${replay}#${eventId}`, { eventId, input }, context);
}
