import { GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { PayloadMissingError } from './payload-missing-error.ts';

/**
 * Payloads that are too large for a message (design D13). Imported on demand: few requests need it,
 * and the S3 client is a third of a bundle.
 */
export class PayloadStore {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  static fromEnvironment(): PayloadStore {
    return new PayloadStore(
      new S3Client(clientSettings),
      requireEnvironment(['PAYLOAD_BUCKET']).PAYLOAD_BUCKET,
    );
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
   * @throws PayloadMissingError where there is no such payload. Without leave to list the bucket S3 says
   *   403 of it instead, which is tried again like any missing permission; but payloads outlive messages.
   */
  async get(key: string): Promise<Uint8Array> {
    try {
      const { Body } = await this.#client.send(new GetObjectCommand({ Bucket: this.#bucket, Key: key }));
      if (Body === undefined) throw new PayloadMissingError(`No body under ${key}`);
      return await Body.transformToByteArray();
    } catch (error) {
      if (error instanceof NoSuchKey) throw new PayloadMissingError(`No payload under ${key}`);
      throw error;
    }
  }
}

let store: PayloadStore | undefined;

/** The store that the function's environment names. */
export function payloadStore(): PayloadStore {
  store ??= PayloadStore.fromEnvironment();
  return store;
}
