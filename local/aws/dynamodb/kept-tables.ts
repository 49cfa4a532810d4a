import * as z from 'zod/mini';
import { isJsonObject, type JsonObject, objectsOf, textOf } from '../json.ts';
import type { KeptState } from '../kept-state.ts';
import { createTable, type Dynalite, keyOf } from './dynalite.ts';

const request = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);

/**
 * Restores the stored tables and items, and stores later writes: a table as the parameters of CreateTable, an item as
 * those of PutItem. Tags and UpdateTable are not stored.
 */
export async function keepTables(dynalite: Dynalite, kept: KeptState): Promise<Dynalite> {
  const tables = kept.collection('table', request);
  const items = kept.collection('item', request);
  for (const [, parameters] of tables.entries()) await createTable(dynalite, parameters);
  for (const [, parameters] of items.entries()) await dynalite('PutItem', parameters);

  async function storeItem({ TableName, item }: Written): Promise<void> {
    const Key = await keyOf(dynalite, TableName, item);
    const { Item } = await dynalite('GetItem', { TableName, Key, ConsistentRead: true });
    const id = JSON.stringify([TableName, Key]);
    if (Item === undefined) items.delete(id);
    else items.put(id, { TableName, Item });
  }

  /** Items are read one after another, so that the newest state of an item is stored last. */
  let last = Promise.resolve();

  return async (operation, parameters) => {
    const answer = await dynalite(operation, parameters);
    const name = textOf(parameters, 'TableName') ?? '';
    if (operation === 'CreateTable') tables.put(name, parameters);
    if (operation === 'DeleteTable') {
      tables.delete(name);
      for (const [id, { TableName }] of items.entries()) if (TableName === name) items.delete(id);
    }
    for (const written of writtenItems(operation, parameters)) {
      last = last.catch(() => {}).then(() => storeItem(written));
      await last;
    }
    return answer;
  };
}

interface Written {
  readonly TableName: JsonObject[string];
  /** The whole item, or only its key. */
  readonly item: JsonObject[string];
}

function writtenItems(operation: string, parameters: JsonObject): Written[] {
  const { TableName, Key, Item, RequestItems } = parameters;
  if (['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation)) return [{ TableName, item: Key ?? Item }];
  if (operation !== 'BatchWriteItem' || !isJsonObject(RequestItems)) return [];
  return Object.keys(RequestItems).flatMap((table) =>
    objectsOf(RequestItems, table).map(({ PutRequest, DeleteRequest }) => ({
      TableName: table,
      item: isJsonObject(PutRequest) ? PutRequest.Item : isJsonObject(DeleteRequest) && DeleteRequest.Key,
    })),
  );
}
