import { shellWord } from '../../../terminal/text.ts';
import type { DeliveryBody } from '../api.ts';

/** Maximum characters of a body. A longer one is unreadable in a shell, and Linux limits one argument to 128 KiB. */
const MAX_BODY_LENGTH = 16_384;

interface CurlRequest {
  readonly url: string;
  /** Undefined for a stage: the console does not know its secret. */
  readonly secret: string | undefined;
  readonly body: DeliveryBody;
  readonly contentType: string;
}

/**
 * Shell commands with openssl and curl that send the same delivery.
 * @throws Error if the body cannot be pasted into a shell unchanged
 */
export function curlCommand({ url, secret, body, contentType }: CurlRequest): string {
  if (!isTypable(body)) {
    const what = 'The body is long, not UTF-8, or has invisible characters';
    throw new Error(`${what}. Save it, and send it with npx hookctl send --file`);
  }
  const key = secret === undefined ? '"$WEBHOOK_SECRET"' : shellWord(secret);
  const header = `-H ${shellWord(`Content-Type: ${contentType}`)}`;
  return [
    `BODY=${shellWord(body.text)}`,
    `SIGNATURE=$(printf '%s' "$BODY" | openssl dgst -sha256 -hmac ${key} -r | cut -d ' ' -f 1)`,
    `printf '%s' "$BODY" | curl -i ${shellWord(url)} \\`,
    `  ${header} -H "X-Webhook-Signature: $SIGNATURE" --data-binary @-`,
  ].join('\n');
}

/** Whether the body can be pasted into a shell unchanged: it has no control or invisible characters. */
const isTypable = ({ text, isUtf8 }: DeliveryBody) =>
  isUtf8 &&
  text.length <= MAX_BODY_LENGTH &&
  !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text.replaceAll('\n', ''));
