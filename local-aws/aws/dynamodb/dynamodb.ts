import type { ItemChange } from '../../observation.ts';
import { AwsError } from '../errors.ts';
import { isJsonObject, type JsonObject, textOf } from '../json.ts';
import type { Operations } from '../services.ts';
import { createTable, Dynalite, keyOf, OPERATIONS } from './dynalite.ts';
import { ItemChanges } from './item-changes.ts';

/**
 * DynamoDB: dynalite, plus features that it lacks.
 * @param onItemChange is called for each item that a write of a single item changed. Without it, writes are
 * faster
 */
export function createDynamodb(
  onItemChange: ((change: ItemChange, accessKeyId: string) => void) | undefined,
): { readonly operations: Operations; close(): Promise<void> } {
  const dynalite = new Dynalite();
  const itemChanges = new ItemChanges(dynalite);
  /** The expiry attribute of each table with TTL. Items never expire here. */
  const expiryAttributes = new Map<string, string>();

  async function nameOfTable(parameters: JsonObject): Promise<string> {
    const name = textOf(parameters, 'TableName') ?? '';
    await dynalite.call('DescribeTable', { TableName: name });
    return name;
  }

  const write = (operation: string) => (parameters: JsonObject, accessKeyId: string) => {
    const carryOut = () => writeItem(dynalite, operation, parameters);
    if (onItemChange === undefined) return carryOut();
    return itemChanges.observe(parameters, carryOut, (change) => onItemChange(change, accessKeyId));
  };

  const operations: Operations = {
    ...Object.fromEntries(
      OPERATIONS.map((operation) => [
        operation,
        (parameters: JsonObject) => dynalite.call(operation, parameters),
      ]),
    ),
    PutItem: write('PutItem'),
    UpdateItem: write('UpdateItem'),
    DeleteItem: write('DeleteItem'),

    CreateTable: (parameters) => createTable(dynalite, parameters),

    DeleteTable(parameters) {
      expiryAttributes.delete(textOf(parameters, 'TableName') ?? '');
      return dynalite.call('DeleteTable', parameters);
    },

    async UpdateTimeToLive(parameters) {
      const table = await nameOfTable(parameters);
      const { TimeToLiveSpecification: settings } = parameters;
      const { AttributeName, Enabled } = isJsonObject(settings) ? settings : {};
      if (typeof AttributeName !== 'string' || typeof Enabled !== 'boolean') {
        throw new AwsError('ValidationException', 'TimeToLiveSpecification needs AttributeName and Enabled.');
      }
      if (Enabled) expiryAttributes.set(table, AttributeName);
      else expiryAttributes.delete(table);
      return { TimeToLiveSpecification: { AttributeName, Enabled } };
    },

    async DescribeTimeToLive(parameters) {
      const AttributeName = expiryAttributes.get(await nameOfTable(parameters));
      const TimeToLiveStatus = AttributeName === undefined ? 'DISABLED' : 'ENABLED';
      return { TimeToLiveDescription: { TimeToLiveStatus, AttributeName } };
    },
  };
  return { operations, close: () => dynalite.close() };
}

/** Writes one item, with `ReturnValuesOnConditionCheckFailure`, which dynalite lacks. */
async function writeItem(dynalite: Dynalite, operation: string, parameters: JsonObject): Promise<JsonObject> {
  if (parameters.ReturnValuesOnConditionCheckFailure !== 'ALL_OLD')
    return dynalite.call(operation, parameters);
  const { TableName, Key, Item } = parameters;
  try {
    return await dynalite.call(operation, parameters);
  } catch (error) {
    if (!(error instanceof AwsError) || error.code !== 'ConditionalCheckFailedException') throw error;
    const key = Key ?? (await keyOf(dynalite, TableName, Item));
    const found = await dynalite.call('GetItem', { TableName, Key: key, ConsistentRead: true });
    throw new AwsError(error.code, error.message, { details: { Item: found.Item } });
  }
}
