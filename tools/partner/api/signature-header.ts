import { LOCAL_SECRET, signatureOf } from '../../../events/signing.ts';
import { BASE64, HEX, PREFIX } from '../../../lambda/receiver/signature.ts';

export const SIGNATURE_HEADER = 'X-Webhook-Signature';

const whole = ({ source }: RegExp) => source.replace(/^\^|\$$/g, '');

/** Every spelling of a signature that is accepted (decision D1), as a regular expression. */
export const SIGNATURE_PATTERN = `^(?:${PREFIX})?(?:${whole(HEX)}|${whole(BASE64)})$`;

/** The header of a payload as an example, made with the secret of the local stack. */
export const exampleSignature = (payload: object) =>
  signatureOf({ body: Buffer.from(JSON.stringify(payload)), secret: LOCAL_SECRET });

export const signatureDescription = `HMAC-SHA256 of the body's bytes, exactly as they are sent, keyed with the UTF-8 bytes of the secret that we share: 64 hex digits of either case, or base64 or base64url of the 32 bytes, with or without padding; any of them may begin with \`${PREFIX}\`. One value, no spaces. This alone proves that the request is yours.`;

/** The header's value as a JSON Schema. */
export const signatureSchema = { type: 'string', pattern: SIGNATURE_PATTERN };
