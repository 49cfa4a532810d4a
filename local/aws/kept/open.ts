import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ZodMiniType } from 'zod/mini';
import { DATABASE_FILE, openStores } from './fauxqs-stores.ts';
import { type KeptState, type Shelf, type Subject, UnusableStateError } from './kept-state.ts';
import { Transaction } from './transaction.ts';

/**
 * Of all that is written: SQLite's tables, fauxqs' and our own, and what is in them. Goes up with any change that an
 * older or newer version would not understand.
 */
export const FORMAT = 1;

/** Held by the process that has the folder open; the system lets go of it however the process ends. */
const LOCK_FILE = 'lock';

/** Not WITHOUT ROWID: SQLite would read values of megabytes to compare their keys. */
const TABLE = `
CREATE TABLE IF NOT EXISTS kept_values (
  subject TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (subject, key)
)`;

/** Payloads and the secret are kept: they are for their owner alone. */
const OWNER_ONLY = 0o700;

/** Result codes of SQLite that are nobody's damage. Source: sqlite.org/rescode.html */
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_CANTOPEN = 14;

/**
 * Opens the state in a folder, which is made where there is none.
 * @param onProblem told once when the disk takes no more
 * @throws UnusableStateError where another process has it, or it cannot be read
 */
export async function openKeptState(
  folder: string,
  onProblem: (message: string) => void,
): Promise<KeptState> {
  const lock = locked(folder);
  try {
    checkFormat(folder);
    const transaction = new Transaction(onProblem);
    const { stores, database } = await openStores(folder, (work) => transaction.write(work));
    transaction.start(database);
    return {
      stores,
      shelf: (subject, schema) => shelf(database, transaction, folder, subject, schema),
      commit: () => transaction.commit(),
      close() {
        transaction.close();
        database.close();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw unusable(folder, error);
  }
}

/**
 * Says early what {@link openKeptState} would say later.
 * @throws UnusableStateError as it does
 */
export function checkKeptState(folder: string): void {
  const lock = locked(folder);
  try {
    checkFormat(folder);
  } catch (error) {
    throw unusable(folder, error);
  } finally {
    lock.close();
  }
}

function locked(folder: string): DatabaseSync {
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
    chmodSync(folder, OWNER_ONLY);
    const lock = new DatabaseSync(join(folder, LOCK_FILE));
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Makes the file where there is none, with its format in the same step as its first table. */
function checkFormat(folder: string): void {
  const file = join(folder, DATABASE_FILE);
  const isNew = !existsSync(file);
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode = WAL');
    const { user_version: format } = { ...database.prepare('PRAGMA user_version').get() };
    if (isNew || (format === 0 && isEmpty(database))) {
      database.exec(`BEGIN; ${TABLE}; PRAGMA user_version = ${FORMAT}; COMMIT`);
      return;
    }
    if (format !== FORMAT) {
      throw new UnusableStateError(
        `${folder} has format ${format}, and this version of the project reads ${FORMAT}: delete the folder to begin empty, or start without --keep`,
      );
    }
    const { quick_check: finding } = { ...database.prepare('PRAGMA quick_check(1)').get() };
    if (finding !== 'ok') throw new Error(String(finding));
  } finally {
    database.close();
  }
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
}

function shelf<Value>(
  database: DatabaseSync,
  transaction: Transaction,
  folder: string,
  subject: Subject,
  schema: ZodMiniType<Value>,
): Shelf<Value> {
  const all = database.prepare('SELECT key, value FROM kept_values WHERE subject = ? ORDER BY key');
  const put = database.prepare('INSERT OR REPLACE INTO kept_values (subject, key, value) VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM kept_values WHERE subject = ? AND key = ?');
  return {
    entries() {
      try {
        return all
          .all(subject)
          .map(({ key, value }) => [String(key), schema.parse(JSON.parse(String(value)))]);
      } catch (error) {
        throw unusable(folder, error);
      }
    },
    put(key, value) {
      transaction.write(() => put.run(subject, key, JSON.stringify(value)));
    },
    delete(key) {
      transaction.write(() => remove.run(subject, key));
    },
  };
}

/** In one line. What an error of a schema says may quote what is kept, so it is not repeated. */
function unusable(folder: string, error: unknown): UnusableStateError {
  if (error instanceof UnusableStateError) return error;
  const { code, errcode, message } = error as NodeJS.ErrnoException & { errcode?: number };
  if (errcode === SQLITE_BUSY) {
    return new UnusableStateError(
      `Another stack goes on with ${folder}: stop it first, or start this one without --keep`,
    );
  }
  const isOfSqlite = code === 'ERR_SQLITE_ERROR';
  const isOfSystem = !isOfSqlite && code !== undefined;
  if (isOfSystem || errcode === SQLITE_READONLY || errcode === SQLITE_CANTOPEN) {
    return new UnusableStateError(`${folder} cannot be written: ${isOfSystem ? code : message}`);
  }
  const reason = isOfSqlite || (error instanceof Error && error.constructor === Error) ? `: ${message}` : '';
  return new UnusableStateError(
    `What is kept in ${folder} is damaged${reason}. Delete the folder to begin empty, or start without --keep`,
  );
}
