/** The key under which a JSON secret holds the webhook secret (contract, Authentication). */
const SECRET_KEY = 'WEBHOOK_SECRET';

/** The stored secret cannot be used. Its message never shows the secret. */
export class UnusableSecretError extends Error {
  override readonly name = 'UnusableSecretError';
}

/**
 * Reads a Secrets Manager value (decision D12): the bare secret, or a JSON object with the key
 * `WEBHOOK_SECRET`. Only an object counts as JSON: the bare secrets `123` and `"abc"` are themselves.
 * @throws UnusableSecretError where it is empty (it would let anybody sign), or is an object without
 *   that key
 */
export function readSecretValue(stored: string | undefined): string {
  const secret = stored?.trimStart().startsWith('{') ? fromJson(stored) : stored;
  if (typeof secret !== 'string' || secret === '') {
    throw new UnusableSecretError(
      `The stored secret is empty, binary, or a JSON object without a non-empty string under ${SECRET_KEY}`,
    );
  }
  return secret;
}

function fromJson(stored: string): unknown {
  try {
    return (JSON.parse(stored) as Record<string, unknown>)[SECRET_KEY];
  } catch {
    // A bare secret may begin with a brace.
    return stored;
  }
}
