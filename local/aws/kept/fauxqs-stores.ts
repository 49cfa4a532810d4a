import type { DatabaseSync } from 'node:sqlite';
import type { BuildAppOptions } from 'fauxqs';

/** Where fauxqs holds what it holds. */
export type Stores = NonNullable<BuildAppOptions['stores']>;

/** fauxqs' own persistence, as far as it is used or repaired here. It is not part of fauxqs' interface. */
interface Persistence {
  readonly db: DatabaseSync;
  load(sqsStore: object, snsStore: object, s3Store: object): void;
  insertQueue(queue: { readonly name: string; readonly tags: ReadonlyMap<string, string> }): void;
  updateMessageReady(messageId: string): void;
  transaction(work: () => void): void;
}

/** The name that fauxqs gives its database. */
export const DATABASE_FILE = 'fauxqs.db';

/** Opens fauxqs' database, and its stores with what is in there. Each later change of them is a write to the database. */
export async function openStores(folder: string): Promise<{ stores: Stores; database: DatabaseSync }> {
  const part = (file: string) => import(new URL(file, import.meta.resolve('fauxqs')).href);
  const [{ PersistenceManager }, { SqsStore }, { SnsStore }, { S3Store }] = await Promise.all([
    part('persistence.js'),
    part('sqs/sqsStore.js'),
    part('sns/snsStore.js'),
    part('s3/s3Store.js'),
  ]);
  const persistence: Persistence = new PersistenceManager(folder);
  repair(persistence);
  const sqsStore = new SqsStore();
  const stores: Stores = { sqsStore, snsStore: new SnsStore(), s3Store: new S3Store() };
  // Before the stores know it: they would write what is loaded.
  persistence.load(sqsStore, stores.snsStore, stores.s3Store);
  for (const store of [...Object.values(stores), ...sqsStore.allQueues()]) store.persistence = persistence;
  return { stores, database: persistence.db };
}

/** Repairs what fauxqs 2.4.1 does wrong. */
function repair(persistence: Persistence): void {
  const { db, insertQueue } = persistence;
  // It replaces a queue that is tagged, and the messages go with the row that they refer to.
  const setTags = db.prepare('UPDATE sqs_queues SET tags = ? WHERE name = ?');
  persistence.insertQueue = (queue) => {
    const { changes } = setTags.run(JSON.stringify(Object.fromEntries(queue.tags)), queue.name);
    if (changes === 0) insertQueue.call(persistence, queue);
  };
  // It sets the receive count of a message that is given back to NULL, which the table refuses.
  const giveBack = db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => {
    giveBack.run(messageId);
  };
  // Its transactions would be inside ours.
  persistence.transaction = (work) => work();
}
