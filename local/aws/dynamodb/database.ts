import type { RowChange } from '../../observation.ts';
import { AwsError } from '../aws-error.ts';
import type { JsonObject } from '../json.ts';
import type { KeptState } from '../kept/kept-state.ts';
import { keepTables } from '../kept/kept-tables.ts';
import type { AwsRequest } from '../request.ts';
import { type AwsResponse, JSON_1_0, jsonResponse } from '../response.ts';
import { createDynalite, createTable, type Dynalite } from './dynalite.ts';
import { keyOf } from './item-key.ts';
import { RowChanges } from './row-changes.ts';
import { createTimeToLive } from './time-to-live.ts';

/** DynamoDB. */
export interface Database {
  answer(request: AwsRequest): Promise<AwsResponse>;
}

interface DatabaseOptions {
  region: string;
  accountId: string;
  /** Told of every row that a single write has changed. @default none, which is quicker */
  onRow?: ((change: RowChange, accessKeyId: string) => void) | undefined;
  /** @default nothing is kept */
  kept?: KeptState | undefined;
}

/** Starts dynalite inside this process, in memory, with the gaps against DynamoDB filled that matter here. */
export async function createDatabase({ region, accountId, onRow, kept }: DatabaseOptions): Promise<Database> {
  const inMemory = createDynalite(region, accountId);
  const dynalite = kept ? await keepTables(inMemory, kept) : inMemory;
  const timeToLive = createTimeToLive(dynalite);
  const rowChanges = new RowChanges(dynalite);

  async function run({ operation, parameters, accessKeyId }: AwsRequest): Promise<JsonObject> {
    switch (operation) {
      case 'CreateTable':
        return createTable(dynalite, parameters);
      case 'UpdateTimeToLive':
        return timeToLive.update(parameters);
      case 'DescribeTimeToLive':
        return timeToLive.describe(parameters);
      case 'DeleteTable':
        timeToLive.forget(parameters);
        return dynalite('DeleteTable', parameters);
      case 'DescribeContinuousBackups':
        return describeContinuousBackups(dynalite, parameters);
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem': {
        const carryOut = () => write(dynalite, operation, parameters);
        if (onRow === undefined) return carryOut();
        return rowChanges.observe(parameters, carryOut, (change) => onRow(change, accessKeyId));
      }
      default:
        return dynalite(operation, parameters);
    }
  }

  return {
    answer: async (request) => jsonResponse(await run(request), JSON_1_0),
  };
}

async function describeContinuousBackups(dynalite: Dynalite, parameters: JsonObject): Promise<JsonObject> {
  await dynalite('DescribeTable', parameters);
  return {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
    },
  };
}

/** One conditional write, with `ReturnValuesOnConditionCheckFailure`, which dynalite does not have. */
async function write(dynalite: Dynalite, operation: string, parameters: JsonObject): Promise<JsonObject> {
  if (parameters.ReturnValuesOnConditionCheckFailure !== 'ALL_OLD') return dynalite(operation, parameters);
  const { TableName, Key, Item } = parameters;
  try {
    return await dynalite(operation, parameters);
  } catch (error) {
    if (!(error instanceof AwsError) || error.code !== 'ConditionalCheckFailedException') throw error;
    const key = Key ?? (await keyOf(dynalite, TableName, Item));
    const found = await dynalite('GetItem', { TableName, Key: key, ConsistentRead: true });
    throw new AwsError(error.code, error.message, { details: { Item: found.Item } });
  }
}
