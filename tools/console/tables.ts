import { GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { HASHED_KEY, tableKey } from '../../lambda/effects/table-key.ts';
import { plainItem } from '../stage/history/effects.ts';
import type { PlainItem } from '../stage/history/facts.ts';
import type { Stage } from '../stage/stage.ts';
import type { TableInfo, TableRows } from './api.ts';
import { notFound } from './server/api-problem.ts';

const PAGE = 50;

/** Tables that the console shows. Their keys must match `lib/pipeline/effects.ts`. */
const TABLES: readonly TableInfo[] = [
  { name: 'ShopCacheTable', key: 'shop_id' },
  { name: 'CastTable', key: 'girl_id' },
  { name: 'ContactPartnerTable', key: 'user_id' },
];

export const tablesOf = ({ outputs }: Pick<Stage, 'outputs'>): TableInfo[] =>
  TABLES.filter(({ name }) => outputs[name] !== undefined);

/**
 * The item with this id or key. Very long ids are stored as a hash.
 * @throws ApiProblem if the table does not exist
 */
export async function itemOf(stage: Stage, name: string, id: string): Promise<PlainItem | undefined> {
  const { TableName, key } = tableOf(stage, name);
  const Key = { [key]: { S: HASHED_KEY.test(id) ? id : tableKey(id) } };
  const answer = await stage.dynamodb.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  return answer.Item && plainItem(answer.Item);
}

/**
 * A page of items, in the order of DynamoDB's scan.
 * @param after `next` of the previous page
 * @throws ApiProblem if the table does not exist
 */
export async function pageOf(stage: Stage, name: string, after: string | undefined): Promise<TableRows> {
  const { TableName, key } = tableOf(stage, name);
  const start = after === undefined ? {} : { ExclusiveStartKey: { [key]: { S: after } } };
  const { Items = [], LastEvaluatedKey } = await stage.dynamodb.send(
    new ScanCommand({ TableName, Limit: PAGE, ...start }),
  );
  const next = LastEvaluatedKey?.[key]?.S;
  return { rows: Items.map(plainItem), ...(next !== undefined && { next }) };
}

function tableOf(stage: Stage, name: string): { TableName: string | undefined; key: string } {
  const known = tablesOf(stage);
  const table = known.find((one) => one.name === name);
  if (table !== undefined) return { TableName: stage.outputs[name], key: table.key };
  const names = known.map((one) => one.name).join(', ');
  throw notFound(`There is no table '${name}' in ${stage.title}. One of: ${names}`);
}
