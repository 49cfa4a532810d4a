import { signatureOf } from '../../events/signing.ts';
import { CommandError } from '../terminal/command-error.ts';
import { shownId } from '../terminal/screen.ts';
import { printable } from '../terminal/text.ts';

interface SignedPost {
  readonly url: string;
  readonly body: Uint8Array;
  readonly secret: string;
  /** @default 'hex' */
  readonly encoding?: 'hex' | 'base64';
  /** Gives up: an answer may be minutes away, as of a receiver that a debugger holds. */
  readonly signal?: AbortSignal;
}

/**
 * Posts a body as the partner does: signed, as JSON.
 * @throws CommandError where nothing answers; AbortError where the signal is aborted
 */
export async function postSigned(post: SignedPost): Promise<{ status: number; body: string }> {
  try {
    const response = await fetch(post.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-webhook-signature': signatureOf(post) },
      body: Buffer.from(post.body),
      signal: post.signal ?? null,
    });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError(
      `Nothing answers at ${post.url}. Is it the right address? The local stack is started with: npm start`,
    );
  }
}

/** `200 queued  event 1a2b3c4d  request JKJaXmPL`; of an error what the answer says. */
export function answerText({ status, body }: { status: number; body: unknown }): string {
  if (typeof body !== 'object' || body === null) return `${status} ${printable(String(body))}`;
  const { status: word, detail, message, eventId, requestId } = body as Record<string, unknown>;
  return [
    `${status} ${typeof word === 'string' ? word : (detail ?? message ?? '')}`,
    ...(eventId === undefined ? [] : [`event ${shownId(String(eventId))}`]),
    ...(requestId === undefined ? [] : [`request ${shownId(String(requestId))}`]),
  ].join('  ');
}

/** The JSON of an answer, or its text if it is none. */
export function parsedAnswer(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
