import { createHash, randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { IDEMPOTENCY_ATTEMPTS, NOTIFICATION_RECORD_SECONDS } from '../limits.ts';
import type { Replay } from '../queue/replay.ts';
import type { EffectOutcome } from './event-order.ts';

type IdempotentEffect<Input> = (input: Input, context: Context) => Promise<EffectOutcome>;

/** What identifies an effect: the event, and the replay that sent it. */
export interface EffectIds {
  readonly eventId: string;
  readonly replay: Pick<Replay, 'name' | 'notify'> | undefined;
}

/** Another run has begun the effect, and may still finish it. */
export class EffectInProgressError extends Error {
  override readonly name = 'EffectInProgressError';
}

/** The effect is done, but the retry will repeat it, because its record could not be written. */
export class EffectNotRecordedError extends Error {
  override readonly name = 'EffectNotRecordedError';
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
  const records = new EffectRecords();
  const perEvent: IdempotentEffect<Input> = async (input, context) =>
    await records.once(recordId(name, input.eventId), context, () => effect(input, context));
  return async (input, context) => {
    const { eventId, replay } = input;
    if (!replay?.notify) return await perEvent(input, context);
    return await records.once(recordId(`${name}.replay`, `${replay.name}#${eventId}`), context, async () => {
      const outcome = await perEvent(input, context);
      return outcome === 'Duplicate' ? await effect(input, context) : outcome;
    });
  };
}

/**
 * Ids and attributes are those of Powertools, which wrote earlier records: an update must not forget who was notified.
 */
const recordId = (name: string, key: string) =>
  `${name}#${createHash('md5').update(JSON.stringify(key)).digest('base64')}`;

/** No record, an expired one that DynamoDB has not deleted yet, or one whose function must have ended. */
const MAY_BEGIN =
  'attribute_not_exists(id) OR expiration < :now OR (#status = :begun AND in_progress_expiration < :nowMs)';

const STATUS = { '#status': 'status' };
const BEGUN = { S: 'INPROGRESS' };
const DONE = { S: 'COMPLETED' };

/** The records of effects that were begun or done, in the idempotency table. */
class EffectRecords {
  readonly #client = new DynamoDBClient({ ...clientSettings, maxAttempts: IDEMPOTENCY_ATTEMPTS });
  readonly #table = requireEnvironment(['IDEMPOTENCY_TABLE']).IDEMPOTENCY_TABLE;

  /**
   * @returns `Duplicate` if an earlier run has done the effect
   * @throws EffectInProgressError, EffectNotRecordedError, or the error of the effect
   */
  async once(id: string, context: Context, effect: () => Promise<EffectOutcome>): Promise<EffectOutcome> {
    // Identifies this run: Lambda may freeze it until its record has expired and another run has begun.
    const run = randomUUID();
    if (!(await this.#begin(id, run, context))) return 'Duplicate';
    let outcome: EffectOutcome;
    try {
      outcome = await effect();
    } catch (error) {
      // If this fails, the record expires when the function must have ended.
      await this.#remove(id, run).catch(() => {});
      throw error;
    }
    await this.#finish(id);
    return outcome;
  }

  /** @returns false if the effect is done */
  async #begin(id: string, run: string, context: Context): Promise<boolean> {
    const now = Date.now();
    try {
      await this.#client.send(
        new PutItemCommand({
          TableName: this.#table,
          Item: {
            id: { S: id },
            run: { S: run },
            status: BEGUN,
            in_progress_expiration: { N: String(now + context.getRemainingTimeInMillis()) },
            expiration: expiration(),
          },
          ConditionExpression: MAY_BEGIN,
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ExpressionAttributeNames: STATUS,
          ExpressionAttributeValues: {
            ':begun': BEGUN,
            ':now': { N: String(now / 1000) },
            ':nowMs': { N: String(now) },
          },
        }),
      );
      return true;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      if (error.Item?.status?.S === DONE.S) return false;
      // DynamoDB stored this run's record, but its answer was lost, and the SDK tried again.
      if (error.Item?.run?.S === run) return true;
      throw new EffectInProgressError('Another run of this effect has not ended yet');
    }
  }

  /** Records the effect even if another run has begun it since, because it did happen. */
  async #finish(id: string): Promise<void> {
    try {
      await this.#client.send(
        new UpdateItemCommand({
          TableName: this.#table,
          Key: { id: { S: id } },
          UpdateExpression: 'SET #status = :done, expiration = :expiration',
          ExpressionAttributeNames: STATUS,
          ExpressionAttributeValues: { ':done': DONE, ':expiration': expiration() },
        }),
      );
    } catch (cause) {
      throw new EffectNotRecordedError('The effect is done, and will be repeated', { cause });
    }
  }

  /** Deletes the record of a failed run, but not that of another run. */
  async #remove(id: string, run: string): Promise<void> {
    await this.#client.send(
      new DeleteItemCommand({
        TableName: this.#table,
        Key: { id: { S: id } },
        ConditionExpression: '#status = :begun AND run = :run',
        ExpressionAttributeNames: STATUS,
        ExpressionAttributeValues: { ':begun': BEGUN, ':run': { S: run } },
      }),
    );
  }
}

/** After it, a replay would notify again. So replays have a limit (`REPLAYABLE_DAYS`). Epoch seconds. */
const expiration = () => ({ N: String(Math.round(Date.now() / 1000) + NOTIFICATION_RECORD_SECONDS) });
