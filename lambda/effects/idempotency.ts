import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import type { EffectOutcome } from './event-order.ts';

/**
 * How long the record of an effect is kept, in seconds: 90 days, as long as a tombstone. A later replay would
 * notify again, so none reaches so far back (`REPLAYABLE_DAYS`).
 */
const EXPIRY_SECONDS = 90 * 24 * 60 * 60;

/** If the record of an effect cannot be written, the effect is repeated: so the record gets more attempts than the effect. */
const RECORD_ATTEMPTS = 5;

/** Carries out an effect for an id, unless that was done before. */
type Idempotent<Id, Input> = (id: Id, input: Input, context: Context) => Promise<EffectOutcome>;

/**
 * Makes an effect that cannot be repeated happen once for each event id. If the function dies between the effect and
 * its record, the effect is repeated: no service can close that window.
 * @param name keeps the ids of one kind apart from those of another
 */
export function idempotentPerEvent<Input>(
  name: string,
  effect: (input: Input, context: Context) => Promise<EffectOutcome>,
): Idempotent<string, Input> {
  const config = new IdempotencyConfig({
    expiresAfterSeconds: EXPIRY_SECONDS,
    responseHook: () => 'Duplicate' satisfies EffectOutcome,
  });
  const idempotent = makeIdempotent(
    (_eventId: string, input: Input, context: Context) => effect(input, context),
    {
      keyPrefix: name,
      config,
      persistenceStore: new DynamoDBPersistenceLayer({
        tableName: requireEnvironment(['IDEMPOTENCY_TABLE']).IDEMPOTENCY_TABLE,
        awsSdkV3Client: new DynamoDBClient({ ...clientSettings, maxAttempts: RECORD_ATTEMPTS }),
      }),
    },
  );
  return (eventId, input, context) => {
    // The record of an effect under way expires when the function that wrote it must have ended.
    config.registerLambdaContext(context);
    return idempotent(eventId, input, context);
  };
}

/** An event's effect that a replay of this name repeats. */
interface Repetition {
  readonly eventId: string;
  /** Name of the replay. */
  readonly replay: string;
}

/**
 * Makes an effect happen once more for each name of a replay, whether or not it happened before. If the event had no
 * effect yet, it is recorded as the event's own, too, so that a repeated delivery does not repeat it. If the function
 * dies between the effect and the last of both records, the effect is repeated.
 * @param perEvent the effect by `idempotentPerEvent` under the same name
 */
export function idempotentPerReplay<Input>(
  name: string,
  effect: (input: Input) => Promise<EffectOutcome>,
  perEvent: Idempotent<string, Input>,
): Idempotent<Repetition, Input> {
  interface Repeated {
    readonly eventId: string;
    readonly input: Input;
  }
  const again = idempotentPerEvent(`${name}.replay`, async ({ eventId, input }: Repeated, context) => {
    const outcome = await perEvent(eventId, input, context);
    return outcome === 'Duplicate' ? await effect(input) : outcome;
  });
  return ({ eventId, replay }, input, context) => again(`${replay}#${eventId}`, { eventId, input }, context);
}
