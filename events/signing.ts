import { createHmac } from 'node:crypto';
import { readSecretValue } from '../lambda/receiver/secret-value.ts';

/**
 * The default secret of the local stack. It also signs the invocations that `npx hookctl invoke` makes of the samples.
 */
export const LOCAL_SECRET = 'local-webhook-secret';

/** Whether a stored secret is the public {@link LOCAL_SECRET}, with or without white space around it. */
export function isLocalSecret(stored: string): boolean {
  try {
    return readSecretValue(stored).trim() === LOCAL_SECRET;
  } catch {
    // Nobody can sign with an unusable secret.
    return false;
  }
}

/** The value of `X-Webhook-Signature`: the HMAC-SHA256 of the body (`docs/contract.md`, Authentication). */
export function signatureOf({
  body,
  secret,
  encoding = 'hex',
}: {
  readonly body: Uint8Array;
  readonly secret: string;
  /** @default 'hex' */
  readonly encoding?: 'hex' | 'base64' | undefined;
}): string {
  return createHmac('sha256', secret).update(body).digest(encoding);
}
