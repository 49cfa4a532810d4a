import { shellWord } from '../../../terminal/text.ts';
import type { DeliveryBody } from '../api.ts';

/**
 * Maximum characters of a body within the command. Longer bodies are read from a file: Linux limits one argument to 128
 * KiB, and a long body is unreadable in a shell.
 */
const MAX_BODY_LENGTH = 16_384;

interface CurlRequest {
  readonly url: string;
  /** Undefined for a stage: the console does not know its secret. */
  readonly secret: string | undefined;
  /** Undefined if the bytes of the body are not known. */
  readonly body: Pick<DeliveryBody, 'text' | 'isUtf8'> | undefined;
  readonly contentType: string;
}

/** Shell commands with openssl and curl that send the same delivery. */
export function curlCommand({ url, secret, body, contentType }: CurlRequest): string {
  const key = secret === undefined ? '"$WEBHOOK_SECRET"' : shellWord(secret);
  const header = `-H ${shellWord(`Content-Type: ${contentType}`)}`;
  if (body === undefined || !isTypable(body)) {
    return [
      '# Save the body as body.bin first, by the button “Save” of the request.',
      `SIGNATURE=$(openssl dgst -sha256 -hmac ${key} -r < body.bin | cut -d ' ' -f 1)`,
      `curl -i ${shellWord(url)} \\`,
      `  ${header} -H "X-Webhook-Signature: $SIGNATURE" --data-binary @body.bin`,
    ].join('\n');
  }
  return [
    `BODY=${shellWord(body.text)}`,
    `SIGNATURE=$(printf '%s' "$BODY" | openssl dgst -sha256 -hmac ${key} -r | cut -d ' ' -f 1)`,
    `printf '%s' "$BODY" | curl -i ${shellWord(url)} \\`,
    `  ${header} -H "X-Webhook-Signature: $SIGNATURE" --data-binary @-`,
  ].join('\n');
}

/** Whether the body can be pasted into a shell unchanged: it has no control or invisible characters. */
const isTypable = ({ text, isUtf8 }: Pick<DeliveryBody, 'text' | 'isUtf8'>) =>
  isUtf8 &&
  text.length <= MAX_BODY_LENGTH &&
  !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text.replaceAll('\n', ''));
