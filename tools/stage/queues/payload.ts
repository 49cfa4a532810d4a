import { isUtf8 } from 'node:buffer';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import { MissingOutputError, type Stage } from '../stage.ts';
import { noted, type ReceivedMessage } from './messages.ts';
import type { AnyQueue } from './queue.ts';

/** A message's payload cannot be read. Its message says why, without showing the payload. */
export class UnreadablePayloadError extends Error {
  override readonly name = 'UnreadablePayloadError';
}

/** The partner's bytes that were too large for a message; undefined if they have expired or were forgotten. */
export async function storedPayload(stage: Stage, key: string): Promise<Buffer | undefined> {
  try {
    const { Body } = await stage.s3.send(new GetObjectCommand({ Bucket: stage.payloadBucket, Key: key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

/**
 * The partner's bytes: of a message, of what the quarantine wraps, or of S3 if they were too large.
 * In a message on an event's queue U+FFFE and U+FFFF are escaped.
 * @throws UnreadablePayloadError
 */
export async function readPayload(
  stage: Stage,
  { kind }: Pick<AnyQueue, 'kind'>,
  message: Pick<ReceivedMessage, 'attributes' | 'body'>,
): Promise<Buffer> {
  const key = noted(message, 'payloadKey');
  if (key !== undefined) {
    const stored = await storedPayload(stage, key);
    if (stored === undefined) throw new UnreadablePayloadError(`S3 no longer has it under ${key}`);
    return stored;
  }
  if (kind !== 'quarantine') return Buffer.from(message.body);
  const bodyBase64 = wrappedBody(message.body);
  if (bodyBase64 === undefined) {
    throw new UnreadablePayloadError('the message holds no bodyBase64: not put here by the receiver');
  }
  return Buffer.from(bodyBase64, 'base64');
}

/** For programs: what the partner sent, as `body` if it is text, else as `bodyBase64`, or why it is `unreadable`. */
export async function payloadFields(
  ...[stage, queue, message]: Parameters<typeof readPayload>
): Promise<{ readonly body?: string; readonly bodyBase64?: string; readonly unreadable?: string }> {
  try {
    const bytes = await readPayload(stage, queue, message);
    return isUtf8(bytes) ? { body: bytes.toString() } : { bodyBase64: bytes.toString('base64') };
  } catch (error) {
    if (error instanceof UnreadablePayloadError || error instanceof MissingOutputError) {
      return { unreadable: error.message };
    }
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
