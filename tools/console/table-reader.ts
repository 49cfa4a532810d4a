import { DescribeTableCommand, GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { tableKey } from '../../lambda/effects/table-key.ts';
import { plainItem } from '../stage/history/effects.ts';
import type { Item } from '../stage/history/facts.ts';
import type { Stage } from '../stage/stage.ts';
import type { TableRows } from './api.ts';
import { notFound } from './server/problem.ts';

/** Rows of a page. */
const PAGE = 50;

/** Outputs of the stack that name a table. */
const OUTPUT = /^[A-Z]\w*Table$/;

/** The tables that events have their effects in, as the stack's outputs name them. */
export class TableReader {
  readonly #stack: Pick<Stage, 'dynamodb' | 'outputs' | 'title'>;
  /** By output. */
  readonly #keys = new Map<string, Promise<string>>();

  constructor(stack: Pick<Stage, 'dynamodb' | 'outputs' | 'title'>) {
    this.#stack = stack;
  }

  get #names(): string[] {
    return Object.keys(this.#stack.outputs).filter((name) => OUTPUT.test(name));
  }

  /** The attribute that rows of a table are found by. @throws Problem where there is no such table */
  async key(name: string): Promise<string> {
    const known = this.#keys.get(name) ?? this.#describe(name);
    this.#keys.set(name, known);
    try {
      return await known;
    } catch (error) {
      // A permission may be given while the console runs.
      this.#keys.delete(name);
      throw error;
    }
  }

  /**
   * The row of an id, whose key is its hash where it is very long.
   * @throws Problem where there is no such table
   */
  async row(name: string, id: string): Promise<Item | undefined> {
    const key = await this.key(name);
    const { Item: item } = await this.#stack.dynamodb.send(
      new GetItemCommand({
        TableName: this.#nameOf(name),
        Key: { [key]: { S: tableKey(id) } },
        ConsistentRead: true,
      }),
    );
    return item && plainItem(item);
  }

  /** A page of rows, in the order of a scan. @param after key of the row before, as `next` said */
  async page(name: string, after?: string): Promise<TableRows> {
    const key = await this.key(name);
    const { Items = [], LastEvaluatedKey } = await this.#stack.dynamodb.send(
      new ScanCommand({
        TableName: this.#nameOf(name),
        Limit: PAGE,
        ...(after !== undefined && { ExclusiveStartKey: { [key]: { S: after } } }),
      }),
    );
    const next = LastEvaluatedKey?.[key]?.S;
    return { rows: Items.map(plainItem), ...(next !== undefined && { next }) };
  }

  async #describe(name: string): Promise<string> {
    const { Table } = await this.#stack.dynamodb.send(
      new DescribeTableCommand({ TableName: this.#nameOf(name) }),
    );
    return Table?.KeySchema?.find(({ KeyType }) => KeyType === 'HASH')?.AttributeName ?? '';
  }

  #nameOf(output: string): string {
    const { outputs, title } = this.#stack;
    const name = this.#names.includes(output) ? outputs[output] : undefined;
    if (name !== undefined) return name;
    throw notFound(`There is no table '${output}' in ${title}. One of: ${this.#names.join(', ')}`);
  }
}
