/** Characters of a secret below which it may stand in a text by chance. */
const SECRET_KNOWN_FROM = 8;

/** What may be a text in base64, of that many characters or more. */
const BASE64 = /[A-Za-z0-9+/_-]{11,}/g;

/** Characters of a text that is looked through for base64: a header's, and not a body's. */
const LONGEST_TEXT = 16 * 1024;

const SCHEME = /^(?:bearer|basic|token|hmac|signature|secret|api-?key)[ =:]+/i;

/** Whether a header's value is the secret and nothing else: as it stands, in base64, or as a password of HTTP's `Basic`. */
export function isSecret(value: string, secret: string): boolean {
  const inner = value.replace(SCHEME, '');
  const decoded = Buffer.from(inner, 'base64').toString();
  return (
    [value, inner, value.split(/[ =]/).at(-1), decoded].includes(secret) ||
    (/^basic /i.test(value) && (decoded.endsWith(`:${secret}`) || decoded.startsWith(`${secret}:`)))
  );
}

/** Whether the secret stands in a text, as it is or in base64. */
export function holdsSecret(text: string, secret: string): boolean {
  if (secret.length < SECRET_KNOWN_FROM) return false;
  if (text.includes(secret)) return true;
  if (text.length > LONGEST_TEXT) return false;
  return [...text.matchAll(BASE64)].some(([word]) => Buffer.from(word, 'base64').toString().includes(secret));
}
