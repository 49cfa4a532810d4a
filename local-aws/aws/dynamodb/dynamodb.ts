import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { ItemChange, ObservedItem } from '../../observation.ts';
import { AwsError } from '../errors.ts';
import { isJsonObject, type JsonObject, objectsOf, parseJsonObject, textOf } from '../json.ts';
import { type Operations, REGION } from '../service-forms.ts';

const FORWARDED = ['DeleteTable', 'DescribeTable', 'GetItem', 'ListTables', 'Query', 'Scan'];

const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem'];

/**
 * DynamoDB: dynalite, plus `ReturnValuesOnConditionCheckFailure`, which it lacks.
 * @param onItemChange is called for each item that a write of a single item changed, before the next write to the
 * same item begins. Without it, writes are faster
 */
export function createDynamodb(
  onItemChange: ((change: ItemChange, accessKeyId: string) => void) | undefined,
): { readonly operations: Operations; close(): Promise<void> } {
  const dynalite = new Dynalite();
  const inTurn = turns();

  /** Creates a table, and answers when it is ACTIVE. dynalite activates it a moment after its own answer. */
  async function createTable(parameters: JsonObject): Promise<JsonObject> {
    const { TableName } = parameters;
    await dynalite.call('CreateTable', parameters);
    for (;;) {
      const { Table } = await dynalite.call('DescribeTable', { TableName });
      if (isJsonObject(Table) && Table.TableStatus === 'ACTIVE') return { TableDescription: Table };
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /**
   * The key of an item, with its parts in the order of the table's schema.
   * @param parameters with the key, or the whole item
   * @throws AwsError if the table does not exist
   */
  async function keyOf({ TableName, Key, Item }: JsonObject): Promise<JsonObject> {
    const { Table } = await dynalite.call('DescribeTable', { TableName });
    const names = objectsOf(isJsonObject(Table) ? Table : {}, 'KeySchema').map((key) =>
      String(key.AttributeName),
    );
    const attributes = [Key, Item].find(isJsonObject) ?? {};
    return Object.fromEntries(names.map((name) => [name, attributes[name]]));
  }

  async function read(TableName: JsonObject[string], Key: JsonObject): Promise<JsonObject[string]> {
    return (await dynalite.call('GetItem', { TableName, Key, ConsistentRead: true })).Item;
  }

  async function write(operation: string, parameters: JsonObject): Promise<JsonObject> {
    try {
      return await dynalite.call(operation, parameters);
    } catch (error) {
      const isWanted = parameters.ReturnValuesOnConditionCheckFailure === 'ALL_OLD';
      if (!(error instanceof AwsError && error.code === 'ConditionalCheckFailedException' && isWanted)) {
        throw error;
      }
      const Item = await read(parameters.TableName, await keyOf(parameters));
      throw new AwsError(error.code, error.message, { details: { Item } });
    }
  }

  /** Writes an item, and finds what the write changes by reading the item before and after it. */
  async function observedWrite(
    operation: string,
    parameters: JsonObject,
    report: (change: ItemChange) => void,
  ): Promise<JsonObject> {
    const table = textOf(parameters, 'TableName') ?? '';
    const key = await keyOf(parameters).catch(() => undefined);
    // Without a valid key, the write itself reports the error.
    if (key === undefined) return write(operation, parameters);
    const observed = () => read(table, key).then(itemOf, () => undefined);
    return inTurn(JSON.stringify([table, key]), async () => {
      const before = await observed();
      const answer = await write(operation, parameters);
      const after = await observed();
      if (!isDeepStrictEqual(before, after)) {
        report({ table, key: itemOf(key) ?? {}, before, after, at: new Date() });
      }
      return answer;
    });
  }

  return {
    operations: {
      ...Object.fromEntries(
        FORWARDED.map((name) => [name, (parameters: JsonObject) => dynalite.call(name, parameters)]),
      ),
      ...Object.fromEntries(
        WRITES.map((name) => [
          name,
          (parameters: JsonObject, accessKeyId: string) =>
            onItemChange === undefined
              ? write(name, parameters)
              : observedWrite(name, parameters, (change) => onItemChange(change, accessKeyId)),
        ]),
      ),
      CreateTable: createTable,
    },
    close: () => dynalite.close(),
  };
}

/** @returns a function that runs the actions on the same item one after another, so that each change has one cause */
function turns() {
  const last = new Map<string, Promise<unknown>>();
  return async <Answer>(item: string, act: () => Promise<Answer>): Promise<Answer> => {
    const turn = (last.get(item) ?? Promise.resolve()).then(act);
    const settled = turn.catch(() => {});
    last.set(item, settled);
    try {
      return await turn;
    } finally {
      if (last.get(item) === settled) last.delete(item);
    }
  };
}

function itemOf(attributes: JsonObject[string]): ObservedItem | undefined {
  if (!isJsonObject(attributes)) return undefined;
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (isJsonObject(value) ? [[name, value]] : [])),
  );
}

interface DynaliteAnswer {
  /** Number of the call. */
  readonly id: number;
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/**
 * dynalite in a thread of its own, with its tables in memory. On an internal error it ends its thread, and would end
 * this process.
 */
export class Dynalite {
  readonly #calls = new Map<number, PromiseWithResolvers<DynaliteAnswer>>();
  #worker: Worker | undefined;
  #failure: Error | undefined;
  #count = 0;

  /**
   * Runs one operation of DynamoDB.
   * @throws AwsError with DynamoDB's error, or InternalServerError if dynalite itself fails or has failed
   */
  async call(operation: string, parameters: JsonObject): Promise<JsonObject> {
    const { status, body } = await this.#send(operation, JSON.stringify(parameters)).catch((error: Error) => {
      const message = `dynalite has failed, and the tables are lost: ${error.message}`;
      throw new AwsError('InternalServerError', message, { status: 500 });
    });
    const document = parseJsonObject(body) ?? {};
    if (status === 200) return document;
    const code = textOf(document, '__type')?.split('#').at(-1) ?? 'InternalServerError';
    const message = textOf(document, 'message') ?? textOf(document, 'Message') ?? code;
    throw new AwsError(code, message, { status });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #send(operation: string, body: string): Promise<DynaliteAnswer> {
    this.#worker ??= this.#start();
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#count += 1;
    const call = Promise.withResolvers<DynaliteAnswer>();
    this.#calls.set(this.#count, call);
    this.#worker.postMessage({ id: this.#count, operation, body });
    return call.promise;
  }

  #start(): Worker {
    // dynalite reads the region of its ARNs from its environment. The file is JavaScript, because the thread would need
    // 50 ms more for TypeScript.
    const worker = new Worker(new URL('dynalite-worker.js', import.meta.url), {
      env: { AWS_REGION: REGION },
    });
    worker.on('message', (answer: DynaliteAnswer) => {
      this.#calls.get(answer.id)?.resolve(answer);
      this.#calls.delete(answer.id);
    });
    worker.on('error', (error: Error) => {
      this.#failure = error;
      for (const { reject } of this.#calls.values()) reject(error);
    });
    return worker;
  }
}
