import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import { payloadBucket } from '../queues/payload.ts';
import type { Stage } from '../stage.ts';

/** The partner's bytes behind a record's `payloadKey`; undefined where they have expired or were forgotten. */
export async function storedPayload(stack: Stage, key: string): Promise<Buffer | undefined> {
  try {
    const { Body } = await stack.s3.send(new GetObjectCommand({ Bucket: payloadBucket(stack), Key: key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}
