import { isUtf8 } from 'node:buffer';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import type { Stage } from '../stage.ts';
import { type HeldMessage, noted } from './message.ts';
import type { AnyQueue } from './queue.ts';

/** A message's payload cannot be read. Its message says why, without showing the payload. */
export class UnreadablePayloadError extends Error {
  override readonly name = 'UnreadablePayloadError';
}

/**
 * The partner's bytes: of a message, of what the quarantine wraps, or of S3 where they were too large.
 * In a message on an event's queue U+FFFE and U+FFFF stand escaped.
 * @throws UnreadablePayloadError
 */
export async function readPayload(
  stack: Stage,
  { kind }: Pick<AnyQueue, 'kind'>,
  message: Pick<HeldMessage, 'attributes' | 'body'>,
): Promise<Buffer> {
  const key = noted(message, 'payloadKey');
  if (key !== undefined) return readStored(stack, key);
  if (kind !== 'quarantine') return Buffer.from(message.body);
  const bodyBase64 = wrappedBody(message.body);
  if (bodyBase64 === undefined) {
    throw new UnreadablePayloadError('the message holds no bodyBase64: not put here by the receiver');
  }
  return Buffer.from(bodyBase64, 'base64');
}

/** What the partner sent, for programs. */
export interface PayloadFields {
  /** If it is text. */
  readonly body?: string;
  /** If it is not. */
  readonly bodyBase64?: string;
  /** Why neither is here. */
  readonly unreadable?: string;
}

export async function payloadFields(
  ...[stack, queue, message]: Parameters<typeof readPayload>
): Promise<PayloadFields> {
  try {
    const bytes = await readPayload(stack, queue, message);
    return isUtf8(bytes) ? { body: bytes.toString() } : { bodyBase64: bytes.toString('base64') };
  } catch (error) {
    if (error instanceof UnreadablePayloadError) return { unreadable: error.message };
    throw error;
  }
}

/** @throws UnreadablePayloadError where the stack's outputs do not say */
export function payloadBucket({ outputs }: Stage): string {
  if (outputs.PayloadBucket) return outputs.PayloadBucket;
  throw new UnreadablePayloadError('it is in S3, and the stack has no output PayloadBucket: deploy it again');
}

async function readStored(stack: Stage, key: string): Promise<Buffer> {
  try {
    const { Body } = await stack.s3.send(new GetObjectCommand({ Bucket: payloadBucket(stack), Key: key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  } catch (error) {
    if (error instanceof NoSuchKey) throw new UnreadablePayloadError(`S3 no longer has it under ${key}`);
    throw error;
  }
}

function wrappedBody(text: string): string | undefined {
  try {
    const { bodyBase64 } = JSON.parse(text) as { bodyBase64?: unknown };
    return typeof bodyBase64 === 'string' ? bodyBase64 : undefined;
  } catch {
    return undefined;
  }
}
