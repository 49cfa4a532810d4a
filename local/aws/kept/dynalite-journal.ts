import * as z from 'zod/mini';
import { AwsError } from '../aws-error.ts';
import type { Dynalite, LevelDatabase } from '../dynalite.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { KeptState } from './kept-state.ts';

type Write = [key: string, json: string | undefined];

/** Operations whose last write dynalite does some time after its answer. */
const COMPLETED_LATER = new Set(['CreateTable', 'UpdateTable', 'DeleteTable']);

/** What of an operation of dynalite's database is looked at. */
interface BatchOperation {
  readonly type: 'put' | 'del';
  readonly key: string;
  readonly value?: unknown;
}

/**
 * Has dynalite go on with what was kept of its database, and keeps what it writes there. Operations run one at a time,
 * so that the writes of each, to a table and its indexes, are kept together.
 */
export function keepWrites(database: LevelDatabase, dynalite: Dynalite, kept: KeptState): Dynalite {
  const shelf = kept.shelf('dynamodb', z.unknown());
  const operations = shelf.entries().map(([key, value]) => ({ type: 'put', key, value }));
  const loaded = new Promise<unknown>((resolve, reject) => {
    database.batch(operations, (error: unknown) => (error ? reject(error) : resolve(undefined)));
  });
  const written: Write[] = [];
  recordWrites(database, written);

  async function runAndKeep(operation: string, parameters: JsonObject): Promise<JsonObject> {
    try {
      const answer = await dynalite(operation, parameters);
      if (COMPLETED_LATER.has(operation)) await settled(dynalite, parameters);
      return answer;
    } finally {
      // Also of an operation that failed: what it did before is in memory.
      for (const [key, json] of written.splice(0)) {
        if (json === undefined) shelf.delete(key);
        else shelf.put(key, JSON.parse(json));
      }
    }
  }

  let last: Promise<unknown> = loaded;
  return (operation, parameters) => {
    const answer = last.then(() => runAndKeep(operation, parameters));
    last = answer.catch(() => {});
    return answer;
  };
}

/** Puts whatever is written down in a list, as it is at that moment: dynalite changes objects later. */
function recordWrites(database: LevelDatabase, written: Write[]): void {
  const { put, del, batch } = database;
  const note = ({ type, key, value }: BatchOperation) =>
    written.push([key, type === 'put' ? JSON.stringify(value) : undefined]);
  database.put = (key, value, ...callback) => {
    note({ type: 'put', key: String(key), value });
    return put(key, value, ...callback);
  };
  database.del = (key, ...callback) => {
    note({ type: 'del', key: String(key) });
    return del(key, ...callback);
  };
  database.batch = (operations, ...callback) => {
    if (Array.isArray(operations)) operations.forEach(note);
    return batch(operations, ...callback);
  };
}

/** Waits until a table is as it was asked for, or gone. */
async function settled(dynalite: Dynalite, { TableName }: JsonObject): Promise<void> {
  for (;;) {
    try {
      const { Table } = await dynalite('DescribeTable', { TableName });
      if (isJsonObject(Table) && Table.TableStatus === 'ACTIVE') return;
    } catch (error) {
      if (error instanceof AwsError && error.code === 'ResourceNotFoundException') return;
      throw error;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
