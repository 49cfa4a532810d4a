import { gunzipSync } from 'node:zlib';
import { GetObjectCommand, paginateListObjectsV2, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** A record as readers of the archive get it. */
export interface ArchivedRecord {
  readonly eventId: string;
  readonly event: string;
  readonly shopId?: string;
  readonly receivedAt: string;
  readonly requestId?: string;
  readonly timestamp?: string;
  readonly outcome: string;
  readonly failureReason?: string;
  readonly attempt: number;
  readonly settledAt: string;
  readonly replay?: object;
  readonly body?: string;
  readonly payloadKey?: string;
}

const READS_AT_A_TIME = 20;

/** Reads the archive with read access to the bucket only: lists, unzips, splits into lines. */
export class ArchiveBucket {
  readonly #client: S3Client;
  readonly #bucket: string;

  /** @param settings of the client. @default the SDK's own: its environment and files */
  constructor(bucket: string | undefined, settings: S3ClientConfig = {}) {
    this.#client = new S3Client({ forcePathStyle: true, ...settings });
    this.#bucket = bucket ?? '';
  }

  /** The keys below a prefix, in their order. */
  async keys(prefix = 'event='): Promise<string[]> {
    const found: string[] = [];
    const pages = paginateListObjectsV2({ client: this.#client }, { Bucket: this.#bucket, Prefix: prefix });
    for await (const { Contents = [] } of pages) found.push(...Contents.map(({ Key = '' }) => Key));
    return found;
  }

  /** Every record below a prefix, in the order of writing. */
  async records(prefix?: string): Promise<ArchivedRecord[]> {
    const keys = await this.keys(prefix);
    const found: ArchivedRecord[] = [];
    for (let first = 0; first < keys.length; first += READS_AT_A_TIME) {
      const objects = keys.slice(first, first + READS_AT_A_TIME).map((key) => this.#read(key));
      found.push(...(await Promise.all(objects)).flat());
    }
    return found;
  }

  async #read(key: string): Promise<ArchivedRecord[]> {
    const { Body } = await this.#client.send(new GetObjectCommand({ Bucket: this.#bucket, Key: key }));
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
    const lines = gunzipSync(bytes).toString().split('\n');
    if (lines.pop() !== '') throw new Error(`${key} does not end with a line feed`);
    return lines.map((line) => JSON.parse(line));
  }
}
