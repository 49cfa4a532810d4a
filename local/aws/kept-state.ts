import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ZodMiniType } from 'zod/mini';
import { DATABASE_FILE, openStores, type Stores } from './fauxqs.ts';

/**
 * Version of everything that is stored: SQLite's tables, fauxqs' and our own, and their content. Raise it with every
 * change that an older or newer version would not understand.
 */
export const FORMAT = 2;

/** Milliseconds between commits. A crash loses at most this much. */
export const COMMIT_INTERVAL = 1_000;

/** The process that uses the folder holds a lock on this file. The system releases it however the process ends. */
const LOCK_FILE = 'lock';

/** Not WITHOUT ROWID: SQLite would read values of megabytes to compare their keys. */
const TABLE = `
CREATE TABLE IF NOT EXISTS kept_values (
  subject TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (subject, key)
)`;

/** Payloads and the secret are stored in plain text. */
const OWNER_ONLY = 0o700;

/** Result codes of SQLite that do not mean damage. Source: sqlite.org/rescode.html */
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_CANTOPEN = 14;

/**
 * The AWS endpoint's state in a folder, written behind: everything is committed together, every {@link COMMIT_INTERVAL}
 * and on close. A crash loses what came after the last commit, but never a part of one turn of the event loop.
 */
export interface KeptState {
  /** The state of SQS, SNS and S3. */
  readonly stores: Stores;
  /** @param schema of a value, as the file may contain anything */
  collection<Value>(subject: Subject, schema: ZodMiniType<Value>): Collection<Value>;
  /** Commits, and lets others open the folder. */
  close(): void;
}

/** The collections, by what they contain. */
type Subject = 'alarm' | 'event source' | 'firehose' | 'item' | 'log line' | 'secret' | 'table';

/** Values by key, each in JSON. */
export interface Collection<Value> {
  /** All of them, by key. @throws UnusableStateError if one does not match its schema */
  entries(): [key: string, value: Value][];
  put(key: string, value: Value): void;
  delete(key: string): void;
}

/** The stored state cannot be used. The message is one line that says why and what to do. */
export class UnusableStateError extends Error {
  override readonly name = 'UnusableStateError';
}

/**
 * Opens the state in a folder. Creates the folder if it does not exist.
 * @param onProblem is called once if a commit fails. From then on every write throws
 * @throws UnusableStateError if another process has it open, or it cannot be read
 */
export async function openKeptState(
  folder: string,
  onProblem: (message: string) => void,
): Promise<KeptState> {
  const lock = lockFolder(folder);
  try {
    const { stores, database } = await openStores(folder);
    // Commits must survive a kill of the process, not of the machine, so they need not reach the disk itself. Without
    // spilling, a full disk fails the commit as a whole and no single statement.
    database.exec(`PRAGMA synchronous = NORMAL; PRAGMA cache_spill = OFF; ${TABLE}; BEGIN`);
    const timer = setInterval(() => commit('COMMIT; BEGIN'), COMMIT_INTERVAL).unref();

    function commit(statements: string): void {
      try {
        database.exec(statements);
      } catch (error) {
        stop();
        onProblem(
          `The state cannot be written to ${folder}, so the stack now refuses all writes: ${(error as Error).message}. Restart it when the folder is writable. The last second is lost`,
        );
      }
    }

    function stop(): void {
      clearInterval(timer);
      database.close();
    }

    return {
      stores,
      collection: (subject, schema) => collectionOf(database, folder, subject, schema),
      close() {
        if (database.isOpen) commit('COMMIT');
        if (database.isOpen) stop();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw unusable(folder, error);
  }
}

/**
 * Finds early what {@link openKeptState} would throw later.
 * @throws UnusableStateError
 */
export function checkKeptState(folder: string): void {
  lockFolder(folder).close();
}

/** Locks the folder and checks its database. */
function lockFolder(folder: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
    chmodSync(folder, OWNER_ONLY);
    lock = new DatabaseSync(join(folder, LOCK_FILE));
    lock.exec('BEGIN EXCLUSIVE');
    checkDatabase(folder);
    return lock;
  } catch (error) {
    lock?.close();
    throw unusable(folder, error);
  }
}

/** The format is written before everything else, so 0 means that the file is new. */
function checkDatabase(folder: string): void {
  const database = new DatabaseSync(join(folder, DATABASE_FILE));
  try {
    const { user_version: format } = { ...database.prepare('PRAGMA user_version').get() };
    if (format === 0) {
      database.exec(`PRAGMA user_version = ${FORMAT}`);
    } else if (format !== FORMAT) {
      throw new UnusableStateError(
        `${folder} has format ${format}, and this version of the project reads ${FORMAT}: delete the folder to start empty, or start without --keep`,
      );
    }
    const { quick_check: finding } = { ...database.prepare('PRAGMA quick_check(1)').get() };
    if (finding !== 'ok') throw new Error(String(finding));
  } finally {
    database.close();
  }
}

function collectionOf<Value>(
  database: DatabaseSync,
  folder: string,
  subject: Subject,
  schema: ZodMiniType<Value>,
): Collection<Value> {
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
    put: (key, value) => put.run(subject, key, JSON.stringify(value)),
    delete: (key) => remove.run(subject, key),
  };
}

/** One line. It does not repeat a schema's error, which may quote stored data. */
function unusable(folder: string, error: unknown): UnusableStateError {
  if (error instanceof UnusableStateError) return error;
  const { code, errcode, message } = error as NodeJS.ErrnoException & { errcode?: number };
  if (errcode === SQLITE_BUSY) {
    return new UnusableStateError(
      `Another stack uses ${folder}: stop it first, or start this one without --keep`,
    );
  }
  const isOfSqlite = code === 'ERR_SQLITE_ERROR';
  const isOfSystem = !isOfSqlite && code !== undefined;
  if (isOfSystem || errcode === SQLITE_READONLY || errcode === SQLITE_CANTOPEN) {
    return new UnusableStateError(`${folder} cannot be written: ${isOfSystem ? code : message}`);
  }
  const reason = isOfSqlite || (error instanceof Error && error.constructor === Error) ? `: ${message}` : '';
  return new UnusableStateError(
    `The stored state in ${folder} is damaged${reason}. Delete the folder to start empty, or start without --keep`,
  );
}
