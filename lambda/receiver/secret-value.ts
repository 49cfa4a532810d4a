import { BYTE_ORDER_MARK } from '../events/envelope.ts';
import { SECRET_HAS_WHITE_SPACE, SECRET_LOOKS_LIKE_JSON } from '../log-messages.ts';

/** The key under which a JSON secret holds the webhook secret (`docs/contract.md`, Authentication). */
const SECRET_KEY = 'WEBHOOK_SECRET';

/** The error text never shows the secret. */
export class UnusableSecretError extends Error {
  override readonly name = 'UnusableSecretError';
}

/**
 * Reads a Secrets Manager value (decision D12): the plain secret, or a JSON object with the key `WEBHOOK_SECRET`. Only
 * objects are read as JSON: `123` and `"abc"` are plain secrets.
 * @throws UnusableSecretError if it is empty or white space (anybody could sign with it), or an object without that key
 */
export function readSecretValue(stored: string | undefined): string {
  const secret = stored?.trimStart().startsWith('{') ? fromJson(stored) : stored;
  if (typeof secret !== 'string' || secret.trim() === '') {
    throw new UnusableSecretError(
      `The stored secret is empty, only white space, binary, or a JSON object without such a string under ${SECRET_KEY}`,
    );
  }
  return secret;
}

/** A secret that a shell or an editor has probably changed: JSON without its quotes, or with too many. */
const LOOKS_LIKE_JSON = new RegExp(`^["'{]|["'}]$|${SECRET_KEY}`);

/**
 * Why a usable secret is probably not the one that somebody meant to store.
 * @returns a log message without the secret; undefined if nothing is unusual
 */
export function secretDoubt(secret: string): string | undefined {
  // trim() also removes a byte order mark.
  if (secret !== secret.trim()) return SECRET_HAS_WHITE_SPACE;
  return LOOKS_LIKE_JSON.test(secret) ? SECRET_LOOKS_LIKE_JSON : undefined;
}

function fromJson(stored: string): unknown {
  try {
    return (JSON.parse(stored.replace(BYTE_ORDER_MARK, '')) as Record<string, unknown>)[SECRET_KEY];
  } catch {
    // A plain secret may begin with a brace.
    return stored;
  }
}
