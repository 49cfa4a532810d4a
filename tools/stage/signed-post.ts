import { signatureOf } from '../../events/signing.ts';
import { CommandError } from '../terminal/command-error.ts';

export interface SignedPost {
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
