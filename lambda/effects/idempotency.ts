import {
  IdempotencyConfig,
  IdempotencyRecordStatus,
  makeIdempotent,
} from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import type { IdempotencyRecord } from '@aws-lambda-powertools/idempotency/persistence';
import { ConditionalCheckFailedException, DeleteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { IDEMPOTENCY_ATTEMPTS, MEMORY_SECONDS } from '../limits.ts';
import type { Replay } from '../queue/replay.ts';
import type { EffectOutcome } from './event-order.ts';

type IdempotentEffect<Input> = (input: Input, context: Context) => Promise<EffectOutcome>;

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
export function idempotent<Input extends EffectIds>(
  name: string,
  effect: IdempotentEffect<Input>,
): IdempotentEffect<Input> {
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
function once<Input>(
  name: string,
  keyOf: (input: Input) => string,
  effect: IdempotentEffect<Input>,
): IdempotentEffect<Input> {
  const { IDEMPOTENCY_TABLE } = requireEnvironment(['IDEMPOTENCY_TABLE']);
  const client = new DynamoDBClient({ ...clientSettings, maxAttempts: IDEMPOTENCY_ATTEMPTS });
  return (input, context) => {
    // Each run has its own record: Lambda may have frozen a run of an earlier invocation, which then continues now.
    const run = makeIdempotent((_key: string) => effect(input, context), {
      keyPrefix: name,
      config: new IdempotencyConfig({
        // After the record expires, a replay would notify again. So replays have a limit (`REPLAYABLE_DAYS`).
        expiresAfterSeconds: MEMORY_SECONDS,
        responseHook: () => 'Duplicate' satisfies EffectOutcome,
        // A record of an unfinished effect expires when the function that wrote it must have ended.
        lambdaContext: context,
      }),
      persistenceStore: new RunRecord(client, IDEMPOTENCY_TABLE),
    });
    return run(keyOf(input));
  };
}

/**
 * The record of one run. After a failed effect, Powertools deletes the record even if another run wrote it. If Lambda
 * freezes a run until its record has expired, another run takes over, and its record must stay: without it the effect
 * would be repeated. A finished effect is recorded unconditionally, because it did happen.
 */
class RunRecord extends DynamoDBPersistenceLayer {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  /**
   * When the unfinished effect expires, in milliseconds. Identifies the run, because a run that takes over has a later
   * expiry.
   */
  #expiry: number | undefined;

  constructor(client: DynamoDBClient, table: string) {
    super({ tableName: table, awsSdkV3Client: client });
    this.#client = client;
    this.#table = table;
  }

  protected override async _putRecord(record: IdempotencyRecord): Promise<void> {
    await super._putRecord(record);
    this.#expiry = record.inProgressExpiryTimestamp;
  }

  protected override async _deleteRecord({ idempotencyKey }: IdempotencyRecord): Promise<void> {
    try {
      await this.#client.send(
        new DeleteItemCommand({
          TableName: this.#table,
          Key: this.getKey(idempotencyKey),
          // Powertools' default names of attributes.
          ConditionExpression: '#status = :unfinished AND in_progress_expiration = :expiry',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: {
            ':unfinished': { S: IdempotencyRecordStatus.INPROGRESS },
            ':expiry': { N: String(this.#expiry ?? 0) },
          },
        }),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }
}
