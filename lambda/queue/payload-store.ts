import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { FAILED_CALL } from '../errors.ts';

/*
 * Payloads that are too large for a message (decision D13). Imported on demand: few requests need it, and the S3 client
 * is a third of a bundle.
 */

const client = new S3Client(clientSettings);
const { PAYLOAD_BUCKET: Bucket } = requireEnvironment(['PAYLOAD_BUCKET']);

export async function putPayload(key: string, payload: Uint8Array): Promise<void> {
  await client.send(
    new PutObjectCommand({ Bucket, Key: key, Body: payload, ContentType: 'application/octet-stream' }),
  );
}

/**
 * @throws the client's error. For an expired payload, a caller that may list the bucket gets `NoSuchKey`. A consumer
 * may not and gets `AccessDenied`, so its message becomes a dead letter after the last attempt.
 */
export async function getPayload(key: string): Promise<Uint8Array> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key }));
  // Stryker disable next-line all: S3 always answers with a body; only the client's type does not say so.
  if (Body === undefined) throw new Error(`No body under ${key}`);
  try {
    return await Body.transformToByteArray();
  } catch (error) {
    // The SDK's logger names only calls that fail before the body.
    throw Object.assign(error as Error, { [FAILED_CALL]: 'S3 GetObject' });
  }
}
