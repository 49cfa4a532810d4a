import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { DatabaseSync } from 'node:sqlite';
import { type BuildAppOptions, buildApp, type FauxqsServer } from 'fauxqs';
import type { AwsResponse } from './response.ts';

// fauxqs offers two interfaces: an app in memory, and a server with a folder for its state. The server listens on all
// of the machine's addresses and its persistence has the faults that `repair` names, so its parts are imported here.
const internal = (file: string) => import(new URL(file, import.meta.resolve('fauxqs')).href);

/** All that SQS lets into a message is in XML 1.0. Source: SQS API reference, `SendMessage`. */
export const FORBIDDEN_CHARACTER = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** A queue as fauxqs shows it. */
export type InspectedQueue = NonNullable<ReturnType<FauxqsServer['inspectQueue']>>;

/** fauxqs, which has SQS, SNS and S3, inside this process and without a port of its own. */
export interface Fauxqs {
  send(request: FauxqsRequest): Promise<AwsResponse>;
  /** @returns undefined if there is no such queue */
  inspectQueue(name: string): Promise<InspectedQueue | undefined>;
  /** Ends long polls. */
  close(): Promise<void>;
}

interface FauxqsRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string | Buffer;
}

interface FauxqsOptions {
  readonly region: string;
  /** Host and port under which clients reach the endpoint, known once it listens. */
  readonly publicHost: () => string;
  readonly maxBodyBytes: number;
  /** @default new ones, which are empty */
  readonly stores?: Stores | undefined;
}

/** Headers of one connection rather than of the request or the answer. */
const CONNECTION_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'expect', 'date'];

export async function createFauxqs({
  region,
  publicHost,
  maxBodyBytes,
  stores,
}: FauxqsOptions): Promise<Fauxqs> {
  await admitAstralCharacters();
  const app = buildApp({ logger: false, defaultRegion: region, ...(stores && { stores }) });
  // fauxqs takes 11 MiB; S3's bodies are those of its catch-all parser.
  app.removeContentTypeParser('*');
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, done) =>
    done(null, body),
  );
  await app.ready();

  return {
    async send({ method, url, headers, body }) {
      // fauxqs separates the resources of regions by the region in this header. Without it, all are in the stack's own.
      const { authorization: _authorization, ...others } = headers;
      const answer = await app.inject({
        method,
        url,
        headers: { ...withoutConnection(others), host: publicHost() },
        ...(body.length > 0 && { payload: body }),
      });
      return {
        status: answer.statusCode,
        headers: withoutConnection(answer.headers),
        body: answer.rawPayload,
      };
    },
    async inspectQueue(name) {
      const answer = await app.inject({ url: `/_fauxqs/queues/${encodeURIComponent(name)}` });
      return answer.statusCode === 200 ? answer.json() : undefined;
    },
    close: () => app.close(),
  };
}

function withoutConnection(headers: OutgoingHttpHeaders): AwsResponse['headers'] {
  const others: AwsResponse['headers'] = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || CONNECTION_HEADERS.includes(name)) continue;
    others[name] = Array.isArray(value) ? value : String(value);
  }
  return others;
}

/**
 * fauxqs refuses messages by an expression without the `u` flag, which takes both halves of an astral character, such as
 * an emoji, for forbidden ones.
 */
async function admitAstralCharacters(): Promise<void> {
  const types: { INVALID_MESSAGE_BODY_CHAR: RegExp } = await internal('sqs/sqsTypes.js');
  types.INVALID_MESSAGE_BODY_CHAR.test = (text) => FORBIDDEN_CHARACTER.test(text);
}

/** Where fauxqs has its state. */
export type Stores = NonNullable<BuildAppOptions['stores']>;

/** The name that fauxqs gives its database. */
export const DATABASE_FILE = 'fauxqs.db';

/** The part of fauxqs' persistence that is used or repaired here. */
interface Persistence {
  readonly db: DatabaseSync;
  load(sqsStore: object, snsStore: object, s3Store: object): void;
  insertQueue(queue: { readonly name: string; readonly tags: ReadonlyMap<string, string> }): void;
  updateMessageReady(messageId: string): void;
  transaction(work: () => void): void;
}

/** Opens fauxqs' database, and its stores with what is in there. Each later change of them is a write to the database. */
export async function openStores(folder: string): Promise<{ stores: Stores; database: DatabaseSync }> {
  const [{ PersistenceManager }, { SqsStore }, { SnsStore }, { S3Store }] = await Promise.all([
    internal('persistence.js'),
    internal('sqs/sqsStore.js'),
    internal('sns/snsStore.js'),
    internal('s3/s3Store.js'),
  ]);
  const persistence: Persistence = new PersistenceManager(folder);
  repair(persistence);
  const sqsStore = new SqsStore();
  const stores: Stores = { sqsStore, snsStore: new SnsStore(), s3Store: new S3Store() };
  // Before the stores know the persistence: they would write what is loaded.
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
  // It sets the receive count of a message whose visibility timeout is set to 0 to NULL, which the table refuses.
  const makeVisible = db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => {
    makeVisible.run(messageId);
  };
  // Its transactions would be inside ours.
  persistence.transaction = (work) => work();
}
