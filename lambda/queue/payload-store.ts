import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';

/**
 * Payloads that are too large for a message (decision D13). Imported on demand: few requests need it,
 * and the S3 client is a third of a bundle.
 */
export class PayloadStore {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(
    client = new S3Client(clientSettings),
    bucket = requireEnvironment(['PAYLOAD_BUCKET']).PAYLOAD_BUCKET,
  ) {
    this.#client = client;
    this.#bucket = bucket;
  }

  async put(key: string, payload: Uint8Array): Promise<void> {
    await this.#client.send(
      new PutObjectCommand({
        Bucket: this.#bucket,
        Key: key,
        Body: payload,
        ContentType: 'application/octet-stream',
      }),
    );
  }

  /**
   * @throws the client's error. A payload that has expired is `NoSuchKey` only to whoever may list the
   *   bucket; a consumer gets `AccessDenied`, and its message ends as a dead letter after the last attempt.
   */
  async get(key: string): Promise<Uint8Array> {
    const { Body } = await this.#client.send(new GetObjectCommand({ Bucket: this.#bucket, Key: key }));
    // Stryker disable next-line all: S3 always answers with a body; only the client's type does not say so.
    if (Body === undefined) throw new Error(`No body under ${key}`);
    return Body.transformToByteArray();
  }
}

let store: PayloadStore | undefined;

export function payloadStore(): PayloadStore {
  store ??= new PayloadStore();
  return store;
}
