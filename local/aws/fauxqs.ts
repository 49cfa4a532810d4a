import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { DatabaseSync } from 'node:sqlite';
import { type BuildAppOptions, buildApp, type FauxqsServer } from 'fauxqs';
import type { AwsResponse } from './response.ts';

// fauxqs offers two interfaces: an app in memory, and a server that stores its state in a folder. The server listens on
// all addresses of the machine, and its persistence has the bugs that `repair` fixes. So its parts are imported here.
const internal = (file: string) => import(new URL(file, import.meta.resolve('fauxqs')).href);

/** SQS allows only the characters of XML 1.0 in a message. Source: SQS API reference, `SendMessage`. */
export const FORBIDDEN_CHARACTER = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** A queue as fauxqs shows it. */
export type InspectedQueue = NonNullable<ReturnType<FauxqsServer['inspectQueue']>>;

/** fauxqs (SQS, SNS and S3) in this process, without a port of its own. */
export interface Fauxqs {
  send(request: FauxqsRequest): Promise<AwsResponse>;
  /** @returns undefined if the queue does not exist */
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
  /** Host and port of the endpoint for clients, known when it listens. */
  readonly publicHost: () => string;
  readonly maxBodyBytes: number;
  /** @default new, empty stores */
  readonly stores?: Stores | undefined;
}

/** Headers that belong to one connection, not to the request or answer. */
const CONNECTION_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'expect', 'date'];

export async function createFauxqs({
  region,
  publicHost,
  maxBodyBytes,
  stores,
}: FauxqsOptions): Promise<Fauxqs> {
  await admitAstralCharacters();
  const app = buildApp({ logger: false, defaultRegion: region, ...(stores && { stores }) });
  // fauxqs accepts 11 MiB. Its catch-all parser reads the bodies of S3.
  app.removeContentTypeParser('*');
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, done) =>
    done(null, body),
  );
  await app.ready();

  return {
    async send({ method, url, headers, body }) {
      // fauxqs separates resources by the region in this header. Without it, all are in the region of the stack.
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
 * fauxqs checks messages with an expression that lacks the `u` flag, so it rejects both halves of an astral character,
 * such as an emoji.
 */
async function admitAstralCharacters(): Promise<void> {
  const types: { INVALID_MESSAGE_BODY_CHAR: RegExp } = await internal('sqs/sqsTypes.js');
  types.INVALID_MESSAGE_BODY_CHAR.test = (text) => FORBIDDEN_CHARACTER.test(text);
}

/** The state of fauxqs. */
export type Stores = NonNullable<BuildAppOptions['stores']>;

/** File name of fauxqs' database. */
export const DATABASE_FILE = 'fauxqs.db';

/** The part of fauxqs' persistence that is used or fixed here. */
interface Persistence {
  readonly db: DatabaseSync;
  load(sqsStore: object, snsStore: object, s3Store: object): void;
  insertQueue(queue: { readonly name: string; readonly tags: ReadonlyMap<string, string> }): void;
  updateMessageReady(messageId: string): void;
  transaction(work: () => void): void;
}

/** Opens fauxqs' database, and stores with its content. Later changes of the stores are written to the database. */
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
  // Before the stores get the persistence: otherwise they would write the loaded content again.
  persistence.load(sqsStore, stores.snsStore, stores.s3Store);
  for (const store of [...Object.values(stores), ...sqsStore.allQueues()]) store.persistence = persistence;
  return { stores, database: persistence.db };
}

/** Fixes bugs of fauxqs 2.4.1. */
function repair(persistence: Persistence): void {
  const { db, insertQueue } = persistence;
  // It replaces the row of a queue that is tagged, and so deletes the messages that refer to it.
  const setTags = db.prepare('UPDATE sqs_queues SET tags = ? WHERE name = ?');
  persistence.insertQueue = (queue) => {
    const { changes } = setTags.run(JSON.stringify(Object.fromEntries(queue.tags)), queue.name);
    if (changes === 0) insertQueue.call(persistence, queue);
  };
  // If a visibility timeout is set to 0, it sets the message's receive count to NULL, which the table rejects.
  const makeVisible = db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => {
    makeVisible.run(messageId);
  };
  // Its transactions would be nested in ours.
  persistence.transaction = (work) => work();
}
