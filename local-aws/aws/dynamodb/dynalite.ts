import { createRequire } from 'node:module';
import { REGION } from '../../client-settings.ts';
import { AwsError } from '../errors.ts';
import { isJsonObject, type JsonObject, objectsOf, textOf } from '../json.ts';
import { ACCOUNT_ID } from '../services.ts';

/**
 * Runs one operation of DynamoDB. @throws AwsError with DynamoDB's error, or InternalServerError if dynalite itself
 * fails
 */
export type Dynalite = (operation: string, parameters: JsonObject) => Promise<JsonObject>;

/**
 * Types of dynalite's inner parts. Its only interface is an HTTP server, which ends the process on an internal
 * error, answers web pages of any origin, and keeps a whole pool of buffers for each item. So this file calls
 * the parts behind that server: the store, and the validation and action of each operation.
 */
type Callback = (error: DynaliteError | undefined, result?: JsonObject) => void;
type Action = (store: Store, parameters: JsonObject, callback: Callback) => void;
interface DynaliteError extends Error {
  statusCode?: number;
  body?: JsonObject;
}
interface Store {
  tableDb: { awsRegion: string; awsAccountId: string };
  db: LevelDatabase;
}
interface Validation {
  types: object;
  custom?: object;
}
interface Validations {
  checkTypes(parameters: JsonObject, types: object): JsonObject;
  checkValidations(parameters: JsonObject, types: object, custom: object | undefined, store: Store): void;
}
type Listener = (...values: unknown[]) => void;
type Keyed = (...valuesAndCallback: unknown[]) => unknown;
interface LevelDatabase extends Record<'get' | 'put' | 'del' | 'batch', Keyed> {
  createValueStream(options: object): { on(event: string, listener: Listener): unknown };
}

const require = createRequire(import.meta.url);
storeText();
const database: { create(options: object): Store } = require('dynalite/db');
const validations: Validations = require('dynalite/validations');

export const OPERATIONS =
  'BatchGetItem BatchWriteItem CreateTable DeleteItem DeleteTable DescribeTable GetItem ListTables ListTagsOfResource PutItem Query Scan TagResource UntagResource UpdateItem UpdateTable'.split(
    ' ',
  );

/**
 * Maximum milliseconds of an operation. After an internal error, dynalite never unlocks the item, and later
 * writes to it would wait forever.
 */
const TIMEOUT_MS = 10_000;

/**
 * Makes dynalite's database store strings instead of buffers. Node.js takes small buffers from 64 KiB pools,
 * so each stored item would keep a whole pool in memory.
 */
function storeText(): void {
  const memoryLevel: { MemoryLevel: new (options: object) => object } = createRequire(
    require.resolve('dynalite/db'),
  )('memory-level');
  const { MemoryLevel } = memoryLevel;
  memoryLevel.MemoryLevel = class extends MemoryLevel {
    constructor(options: object) {
      super({ ...options, storeEncoding: 'utf8' });
    }
  };
}

/** Opens an empty store in memory. */
export function createDynalite(): Dynalite {
  const store = database.create({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  Object.assign(store.tableDb, { awsRegion: REGION, awsAccountId: ACCOUNT_ID });

  /** Functions that reject the unfinished operations. */
  const underWay = new Set<(error: unknown) => void>();
  guardCallbacks(store.db, (error) => {
    for (const reject of underWay) reject(error);
  });

  return async (operation, parameters) => {
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    underWay.add(reject);
    const timer = setTimeout(() => reject(new Error('dynalite did not answer')), TIMEOUT_MS);
    try {
      const checked = validate(store, operation, parameters);
      actionOf(operation)(store, checked, (error, result) => (error ? reject(error) : resolve(result ?? {})));
      return await promise;
    } catch (error) {
      throw asAwsError(operation, error);
    } finally {
      clearTimeout(timer);
      underWay.delete(reject);
    }
  };
}

/** Creates a table, and answers when it is ACTIVE. dynalite activates it a moment after its own answer. */
export async function createTable(dynalite: Dynalite, parameters: JsonObject): Promise<JsonObject> {
  const { TableName } = parameters;
  await dynalite('CreateTable', parameters);
  for (;;) {
    const { Table } = await dynalite('DescribeTable', { TableName });
    if (isJsonObject(Table) && Table.TableStatus === 'ACTIVE') return { TableDescription: Table };
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * The key of an item, with its parts in the order of the table's schema.
 * @param item the whole item, or only its key
 * @throws AwsError if the table does not exist
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

function validate(store: Store, operation: string, parameters: JsonObject): JsonObject {
  const { types, custom }: Validation = require(`dynalite/validations/${fileOf(operation)}`);
  const checked = validations.checkTypes(parameters, types);
  validations.checkValidations(checked, types, custom, store);
  return checked;
}

function actionOf(operation: string): Action {
  return require(`dynalite/actions/${fileOf(operation)}`);
}

function fileOf(operation: string): string {
  return operation.charAt(0).toLowerCase() + operation.slice(1);
}

function asAwsError(operation: string, error: unknown): AwsError {
  const { statusCode, body, message } = error as DynaliteError;
  if (statusCode === undefined || body === undefined) {
    return new AwsError('InternalServerError', `dynalite failed in ${operation}: ${message}`, {
      status: 500,
    });
  }
  const code = textOf(body, '__type')?.split('#').at(-1) ?? 'InternalServerError';
  return new AwsError(code, textOf(body, 'message') ?? textOf(body, 'Message') ?? code, {
    status: statusCode,
  });
}

/**
 * Catches errors in callbacks of dynalite's database: these callbacks run after the call, where nothing else catches
 * their errors.
 */
function guardCallbacks(db: LevelDatabase, onError: (error: unknown) => void): void {
  const guarded =
    (callback: Listener): Listener =>
    (...values) => {
      try {
        callback(...values);
      } catch (error) {
        onError(error);
      }
    };
  for (const method of ['get', 'put', 'del', 'batch'] as const) {
    const original = db[method];
    db[method] = (...values) =>
      original(...values.map((value) => (typeof value === 'function' ? guarded(value as Listener) : value)));
  }
  const createValueStream = db.createValueStream;
  db.createValueStream = (options) => {
    const stream = createValueStream(options);
    const on = stream.on.bind(stream);
    stream.on = (event, listener) =>
      on(event, event === 'data' || event === 'end' ? guarded(listener) : listener);
    return stream;
  };
}
