import type { DatabaseSync } from 'node:sqlite';
import type { BuildAppOptions } from 'fauxqs';

/** Where fauxqs holds what it holds. */
export type Stores = NonNullable<BuildAppOptions['stores']>;

interface Queue {
  readonly name: string;
  readonly url: string;
  readonly arn: string;
  readonly attributes: object;
  readonly tags: ReadonlyMap<string, string>;
  readonly createdTimestamp: number;
  readonly lastModifiedTimestamp: number;
  readonly sequenceCounter: number;
}

/** fauxqs' own persistence, as far as it is used or repaired here. It is not part of fauxqs' interface. */
interface Persistence {
  readonly db: DatabaseSync;
  load(sqsStore: object, snsStore: object, s3Store: object): void;
  insertQueue(queue: Queue): void;
  updateMessageReady(messageId: string): void;
  transaction(work: () => void): void;
}

/** The name that fauxqs gives its database. */
export const DATABASE_FILE = 'fauxqs.db';

/** A store or a queue writes to what it finds in this field. */
type Persistent = { persistence?: unknown };

/**
 * Opens fauxqs' database, and its stores with what is in there.
 * @param write runs each write of the stores
 */
export async function openStores(
  folder: string,
  write: <Result>(work: () => Result) => Result,
): Promise<{ stores: Stores; database: DatabaseSync }> {
  const part = (file: string) => import(new URL(file, import.meta.resolve('fauxqs')).href);
  const [persistenceModule, sqs, sns, s3] = await Promise.all([
    part('persistence.js'),
    part('sqs/sqsStore.js'),
    part('sns/snsStore.js'),
    part('s3/s3Store.js'),
  ]);
  const persistence: Persistence = new persistenceModule.PersistenceManager(folder);
  repair(persistence);

  const stores: Stores = {
    sqsStore: new sqs.SqsStore(),
    snsStore: new sns.SnsStore(),
    s3Store: new s3.S3Store(),
  };
  // What is loaded is not to be written again, so the stores learn of the persistence later.
  persistence.load(stores.sqsStore, stores.snsStore, stores.s3Store);
  const writing = throughout(persistence, write);
  const persistent: Persistent[] = [...Object.values(stores), ...stores.sqsStore.allQueues()];
  for (const store of persistent) store.persistence = writing;
  return { stores, database: persistence.db };
}

/**
 * Repairs what fauxqs 2.4.1 does wrong. A queue that is tagged is replaced, and its messages go with the row that they
 * refer to. A message whose visibility is changed to 0 loses its count of receives, which the table refuses: fauxqs has
 * forgotten the message by then. And transactions of its own would be inside ours.
 */
function repair(persistence: Persistence): void {
  const { db } = persistence;
  const insertQueue = db.prepare(`
    INSERT INTO sqs_queues
      (name, url, arn, attributes, tags, created_timestamp, last_modified_timestamp, sequence_counter)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET attributes = excluded.attributes, tags = excluded.tags,
      last_modified_timestamp = excluded.last_modified_timestamp, sequence_counter = excluded.sequence_counter`);
  persistence.insertQueue = (queue) => {
    insertQueue.run(
      queue.name,
      queue.url,
      queue.arn,
      JSON.stringify(queue.attributes),
      JSON.stringify(Object.fromEntries(queue.tags)),
      queue.createdTimestamp,
      queue.lastModifiedTimestamp,
      queue.sequenceCounter,
    );
  };
  const returnMessage = db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => {
    returnMessage.run(messageId);
  };
  persistence.transaction = (work) => work();
}

/** The one method that the stores call and that only reads. */
const READING = 'readBody';

/** The same object, with its methods run by another function. */
function throughout<Type extends object>(target: Type, run: <Result>(work: () => Result) => Result): Type {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name);
      if (typeof member !== 'function') return member;
      const method = (...values: unknown[]): unknown => member.apply(object, values);
      return name === READING ? method : (...values: unknown[]) => run(() => method(...values));
    },
  });
}
