import { isJsonObject, type JsonObject, objectsOf } from '../json.ts';
import type { Dynalite } from './dynalite.ts';

/**
 * The key of an item, its parts in the order of the table's schema.
 * @param item of which there may be nothing but the key
 * @throws AwsError where there is no such table
 */
export async function keyOf(
  dynalite: Dynalite,
  table: JsonObject[string],
  item: JsonObject[string],
): Promise<JsonObject> {
  const { Table } = await dynalite('DescribeTable', { TableName: table });
  const names = objectsOf(isJsonObject(Table) ? Table : {}, 'KeySchema').map((key) =>
    String(key.AttributeName),
  );
  const attributes = isJsonObject(item) ? item : {};
  return Object.fromEntries(names.map((name) => [name, attributes[name]]));
}
