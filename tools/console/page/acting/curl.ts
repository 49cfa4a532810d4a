/** One word of a shell (POSIX): between single quotes nothing has a meaning but the quote itself. */
export const shellQuote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Longer bodies are not for a command line: Linux takes 128 KiB for one argument, and nobody can read them there. */
const LONGEST_BODY = 16_384;

interface CurlRequest {
  readonly url: string;
  /** The secret; undefined of a stage, whose secret the console does not know. */
  readonly secret: string | undefined;
  /** The body; undefined where its bytes are not known. */
  readonly body: string | undefined;
  /** Whether the text is what the bytes are. */
  readonly isUtf8: boolean;
  readonly contentType: string;
}

/** The same delivery by openssl and curl, to be pasted into a shell. */
export function curlCommand({ url, secret, body, isUtf8, contentType }: CurlRequest): string {
  const key = secret === undefined ? '"$WEBHOOK_SECRET"' : shellQuote(secret);
  const header = `-H ${shellQuote(`Content-Type: ${contentType}`)}`;
  if (body === undefined || !isUtf8 || !isTypable(body)) {
    return [
      '# Save the body as body.bin first: “Save” beside it does that.',
      `SIGNATURE=$(openssl dgst -sha256 -hmac ${key} -r < body.bin | cut -d ' ' -f 1)`,
      `curl -i ${shellQuote(url)} \\`,
      `  ${header} -H "X-Webhook-Signature: $SIGNATURE" --data-binary @body.bin`,
    ].join('\n');
  }
  return [
    `BODY=${shellQuote(body)}`,
    `SIGNATURE=$(printf '%s' "$BODY" | openssl dgst -sha256 -hmac ${key} -r | cut -d ' ' -f 1)`,
    `printf '%s' "$BODY" | curl -i ${shellQuote(url)} \\`,
    `  ${header} -H "X-Webhook-Signature: $SIGNATURE" --data-binary @-`,
  ].join('\n');
}

/** Whether a terminal takes a text for itself and nothing else: no control character, nothing that hides. */
function isTypable(body: string): boolean {
  return body.length <= LONGEST_BODY && !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(body.replaceAll('\n', ''));
}
