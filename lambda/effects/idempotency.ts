import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import type { Replay } from '../queue/replay.ts';
import type { EffectOutcome } from './event-order.ts';

/**
 * How long the record of an effect is kept, in seconds: 90 days, like a tombstone. After that a replay would notify
 * again, so replays are limited to it (`REPLAYABLE_DAYS`).
 */
const EXPIRY_SECONDS = 90 * 24 * 60 * 60;

/**
 * If the record of an effect cannot be written, the effect is repeated. So writing the record gets more attempts than
 * the effect.
 */
const RECORD_ATTEMPTS = 5;

type Effect<Input> = (input: Input, context: Context) => Promise<EffectOutcome>;

/** What identifies an effect: the event, and the replay that sent it. */
export interface EffectIds {
  readonly eventId: string;
  readonly replay: Pick<Replay, 'name' | 'notify'> | undefined;
}

/**
 * Runs an effect that must not be repeated once for each event, and once more for each name of a replay that notifies.
 * If a replay is the first to process an event, it is also recorded as the event's own effect, so that a repeated
 * delivery does not repeat it. If the function crashes between the effect and its record, the effect is repeated: no
 * service can prevent that.
 * @param name separates the ids of one kind from those of another
 */
export function idempotent<Input extends EffectIds>(name: string, effect: Effect<Input>): Effect<Input> {
  const perEvent = once<Input>(name, ({ eventId }) => eventId, effect);
  const perReplay = once<Input>(
    `${name}.replay`,
    ({ eventId, replay }) => `${replay?.name}#${eventId}`,
    async (input, context) => {
      const outcome = await perEvent(input, context);
      return outcome === 'Duplicate' ? await effect(input, context) : outcome;
    },
  );
  return (input, context) => (input.replay?.notify ? perReplay : perEvent)(input, context);
}

/** @param keyOf key of an input. Inputs with the same key run the effect once. */
function once<Input>(name: string, keyOf: (input: Input) => string, effect: Effect<Input>): Effect<Input> {
  const config = new IdempotencyConfig({
    expiresAfterSeconds: EXPIRY_SECONDS,
    responseHook: () => 'Duplicate' satisfies EffectOutcome,
  });
  const run = makeIdempotent((_key: string, input: Input, context: Context) => effect(input, context), {
    keyPrefix: name,
    config,
    persistenceStore: new DynamoDBPersistenceLayer({
      tableName: requireEnvironment(['IDEMPOTENCY_TABLE']).IDEMPOTENCY_TABLE,
      awsSdkV3Client: new DynamoDBClient({ ...clientSettings, maxAttempts: RECORD_ATTEMPTS }),
    }),
  });
  return (input, context) => {
    // A record of an unfinished effect expires when the function that wrote it must have ended.
    config.registerLambdaContext(context);
    return run(keyOf(input), input, context);
  };
}
