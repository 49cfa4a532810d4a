import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import type { EffectOutcome } from './outcome.ts';

/**
 * How long an event is remembered, in seconds: 90 days, as long as a tombstone. A replay after it
 * would notify again.
 */
const MEMORY_SECONDS = 90 * 24 * 60 * 60;

/** An effect of which the note cannot be written is repeated: the note is worth more attempts than the effect. */
const NOTE_ATTEMPTS = 5;

/**
 * Makes an effect that cannot be repeated happen once for each event id. Where the function dies
 * between the effect and the note of it, the effect is repeated: no service can close that window.
 * @param name keeps the ids of one kind apart from those of another
 */
export function oncePerEvent<Input>(
  name: string,
  effect: (input: Input) => Promise<EffectOutcome>,
): (eventId: string, input: Input, context: Context) => Promise<EffectOutcome> {
  const config = new IdempotencyConfig({
    expiresAfterSeconds: MEMORY_SECONDS,
    responseHook: () => 'Duplicate' satisfies EffectOutcome,
  });
  const once = makeIdempotent((_eventId: string, input: Input) => effect(input), {
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
    return once(eventId, input);
  };
}
