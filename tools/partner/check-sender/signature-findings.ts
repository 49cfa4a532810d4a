import { decodeSignature } from '../../../lambda/receiver/signature.ts';
import { valuesOf } from '../../../local/gateway/http-message.ts';
import { type Finding, type Mistake, wrong } from './finding.ts';
import {
  isSecret,
  NEVER_SEND_SECRET,
  NO_VALUE,
  PLACEHOLDER,
  type Reading,
  readings,
  timestampsIn,
} from './signature-values.ts';
import { type SentRequest, signedMessages, type Variant } from './signed-messages.ts';
import { algorithms, hmacSha256, signingKeys } from './signing-variants.ts';

/** The usual spelling for people. The service ignores case. */
const SHOWN_HEADER = 'X-Webhook-Signature';

const HEADER = SHOWN_HEADER.toLowerCase();

/** Headers that other services use for the signature, and misspellings of ours by a wrong setting. */
const OTHER_HEADERS = `
  X-Signature X-Signature-256 X-Signature-SHA256 X-Hub-Signature-256 X-Hub-Signature X-Webhook-Signature-256
  X-Webhook-Signature-SHA256 X-Webhook-Hmac-SHA256 X-Webhook-Hmac X-Hmac-Signature X-Hmac-SHA256
  X-Shopify-Hmac-SHA256 X-Partner-Signature X_Webhook_Signature HTTP_X_WEBHOOK_SIGNATURE Webhook-Signature
  Stripe-Signature Signature Content-Digest Digest Authorization
`
  .trim()
  .split(/\s+/);

/** Places whose values may look like a signature by chance. */
const UNNAMED_PLACES = ['another header', 'the query string', 'Content-Digest', 'Digest'];

/** Maximum bytes of a body for which combinations of two mistakes are tried: each pair costs an HMAC of the body. */
const MAX_BYTES_FOR_PAIRS = 32 * 1024;

/** Number of variants of each kind that are tried in pairs, the most likely. */
const MAX_IN_PAIRS = { messages: 10, keys: 2, algorithms: 4 };

/** Maximum characters of a header that are read: a longer value cannot be a signature. */
const MAX_VALUE_LENGTH = 1_024;

/** Minimum bytes of a truncated signature needed to recognise it. */
const MIN_CUT_BYTES = 8;

const SECRET_AS_SIGNATURE: Mistake = {
  kind: 'secret-sent',
  what: 'The secret itself was sent instead of a signature.',
  remedy: NEVER_SEND_SECRET,
};

const SIGNED_BEFORE: Mistake = {
  kind: 'signed-event-before',
  what: 'The signature belongs to an event that was sent before.',
  remedy: 'Compute a new signature for each request. A variable, header or object is being reused.',
};

const OTHER_SPELLING: Mistake = {
  kind: 'signature-spelling',
  what: 'The signature is correct, but the service cannot read this form of it. Check the base64 padding.',
  remedy: 'Send the 32 bytes as 64 hex digits, or as base64 with one equals sign at the end.',
};

/**
 * Finds why a signature does not verify: the known mistake that explains it, or two of them.
 * @param secret that should have been used
 * @returns at least one mistake, the cause first
 */
export function signatureFindings(request: SentRequest, secret: string): Finding[] {
  const values = valuesOf(request.headers, HEADER).map((value) => value.slice(0, MAX_VALUE_LENGTH));
  const [value] = values;
  if (value === undefined) return findElsewhere(request, secret).map(wrong);
  const mistake = malformed(request, secret, values);
  if (mistake !== undefined) return [wrong(mistake)];
  const [mistakes] = explain(request, secret, [value]);
  return (mistakes ?? [unexplained(request, value)]).map(wrong);
}

/** Mistakes that are recognised without a search. */
function malformed({ body }: SentRequest, secret: string, values: readonly string[]): Mistake | undefined {
  const [value = ''] = values;
  if (values.length > 1) {
    const times = values.length === 2 ? 'twice' : `${values.length} times`;
    return {
      kind: 'signature-twice',
      what: `${SHOWN_HEADER} was sent ${times}, with ${new Set(values).size === 1 ? 'the same value' : 'different values'}.`,
      remedy: 'Send the header once. Check whether the client appends to it, or a proxy repeats it.',
    };
  }
  if (value === '') {
    return {
      kind: 'signature-empty',
      what: `${SHOWN_HEADER} is empty.`,
      remedy: 'Compute the signature before the request is built. Its variable was still empty.',
    };
  }
  if (NO_VALUE.test(value) || PLACEHOLDER.test(value)) {
    return {
      kind: 'signature-no-value',
      what: `${SHOWN_HEADER} contains a text such as undefined or [object Object] instead of a signature.`,
      remedy: 'Send the hex digest as text, not the hash object and not an unset variable.',
    };
  }
  const text = value.replace(/^sha256=/, '');
  const bytes = Buffer.from(text, /^(?:[0-9a-f]{2})+$/i.test(text) ? 'hex' : 'base64');
  const right = hmacSha256(Buffer.from(secret), body);
  if (bytes.length < MIN_CUT_BYTES || bytes.length >= right.length) return undefined;
  if (!right.subarray(0, bytes.length).equals(bytes)) return undefined;
  return {
    kind: 'signature-cut',
    what: `The signature is correct, but cut off after ${bytes.length} of its 32 bytes.`,
    remedy: 'Send all 32 bytes: 64 hex digits, or 44 characters of base64.',
  };
}

function unexplained({ body }: SentRequest, value: string): Mistake {
  if (decodeSignature(value) === undefined) {
    return {
      kind: 'signature-malformed',
      what: `${SHOWN_HEADER} has ${value.length} characters that are not a signature. Expected: 64 hex digits, or 43 to 44 characters of base64.`,
      remedy: 'Send the 32 bytes of the HMAC-SHA256 as 64 hex digits.',
    };
  }
  return {
    kind: 'signature-other',
    what: 'The signature is well formed, but made from other bytes or with another secret. No known mistake explains it.',
    remedy: `Compare the secrets first. Then compare the SHA-256 of the bytes that you sign with that of the ${body.length} bytes that arrived: the event id above.`,
  };
}

/** Looks for the signature where other services have it. */
function findElsewhere(request: SentRequest, secret: string): Mistake[] {
  const shown = new Map(OTHER_HEADERS.map((name) => [name.toLowerCase(), name]));
  const places = [
    ...request.headers.map(([name, value]) => [shown.get(name.toLowerCase()) ?? 'another header', value]),
    ...[...new URLSearchParams(request.query).values()].map((value) => ['the query string', value]),
  ].map(([place = '', value = '']) => ({ place, value: value.slice(0, MAX_VALUE_LENGTH) }));
  const explained = explain(
    request,
    secret,
    places.map(({ value }) => value),
  );
  const found = places.map(({ place }, index) => ({ place, mistakes: explained[index] }));
  const best =
    found.find(({ mistakes }) => mistakes !== undefined) ??
    found.find(({ place }) => !UNNAMED_PLACES.includes(place));
  if (best === undefined) {
    return [
      {
        kind: 'signature-missing',
        what: `${SHOWN_HEADER} is missing.`,
        remedy:
          'Send the HMAC-SHA256 of the body, with the secret as the key, as 64 hex digits in that header.',
      },
    ];
  }
  const { place, mistakes = [] } = best;
  const isSecretSent = mistakes.includes(SECRET_AS_SIGNATURE);
  const content = isSecretSent ? 'the secret itself is' : 'the signature is';
  return [
    {
      kind: 'signature-elsewhere',
      what: `${SHOWN_HEADER} is missing; ${best.mistakes === undefined ? 'something similar is' : content} in ${place}.`,
      remedy: isSecretSent
        ? `Send the HMAC-SHA256 of the body in ${SHOWN_HEADER}. Never send the secret.`
        : `Send it in ${SHOWN_HEADER}.`,
    },
    ...mistakes,
  ];
}

/**
 * The mistakes that led to one of these values. All values share the computations, which stop when one is explained.
 * @returns for each value: undefined if no known mistake explains it; empty if it is right
 */
function explain(request: SentRequest, secret: string, values: readonly string[]): (Mistake[] | undefined)[] {
  const explained = values.map((value) => (isSecret(value, secret) ? [SECRET_AS_SIGNATURE] : undefined));
  if (explained.some((mistakes) => mistakes !== undefined)) return explained;
  const byDigest = new Map<string, { index: number; reading: Reading }>();
  for (const [index, value] of values.entries()) {
    for (const reading of readings(value)) {
      const digest = reading.digest.toString('hex');
      if (!byDigest.has(digest)) byDigest.set(digest, { index, reading });
    }
  }
  if (byDigest.size === 0) return explained;
  const timestamps = values.flatMap(timestampsIn);
  for (const { digest, mistakes } of computations(request, secret, timestamps)) {
    const found = byDigest.get(digest.toString('hex'));
    if (found === undefined) continue;
    const { index, reading } = found;
    // With the right digest, the service also reads values of another length.
    const isRead = reading.digest.length !== 32 || decodeSignature(values[index]) !== undefined;
    const spelling = reading.mistake ?? (isRead ? undefined : OTHER_SPELLING);
    explained[index] = [...mistakes, ...(spelling === undefined ? [] : [spelling])];
    break;
  }
  return explained;
}

interface Computation {
  readonly digest: Buffer;
  readonly mistakes: readonly Mistake[];
}

/** All possible computations, messages × keys × algorithms: with no mistake, then one, then two. */
function* computations(
  request: SentRequest,
  secret: string,
  timestamps: readonly string[],
): Generator<Computation, undefined> {
  const { body, earlier = [] } = request;
  const right = {
    message: { mistake: undefined, bytes: body },
    key: { mistake: undefined, bytes: Buffer.from(secret) },
    algorithm: { mistake: undefined, compute: hmacSha256 },
  };
  yield { digest: hmacSha256(right.key.bytes, body), mistakes: [] };
  const isSmall = body.length <= MAX_BYTES_FOR_PAIRS;
  const allMessages = signedMessages(request, timestamps);
  let messages: Iterable<Variant> = isSmall ? [...allMessages] : allMessages;
  let keys = signingKeys(secret);
  let likelyAlgorithms = algorithms;
  for (const count of [1, 2]) {
    for (const algorithm of [right.algorithm, ...likelyAlgorithms]) {
      for (const key of [right.key, ...keys]) {
        const others = [key, algorithm].flatMap(({ mistake }) => mistake ?? []);
        const open = count - others.length;
        for (const { mistake, bytes } of open === 0 ? [right.message] : open === 1 ? messages : []) {
          const mistakes = [...(mistake === undefined ? [] : [mistake]), ...others];
          yield { digest: algorithm.compute(key.bytes, bytes), mistakes };
        }
      }
    }
    for (const digest of count === 1 ? earlier : []) yield { digest, mistakes: [SIGNED_BEFORE] };
    if (!isSmall) return undefined;
    messages = likeliest([...messages], MAX_IN_PAIRS.messages);
    keys = likeliest(keys, MAX_IN_PAIRS.keys);
    likelyAlgorithms = likeliest(algorithms, MAX_IN_PAIRS.algorithms);
  }
  return undefined;
}

/** Takes the first of each kind, so that trying pairs stays below a second. */
function likeliest<Guess extends { readonly mistake: Mistake }>(
  variants: readonly Guess[],
  count: number,
): Guess[] {
  const counts = new Map<string, number>();
  return variants.filter(({ mistake: { kind } }) => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return (counts.get(kind) ?? 0) <= count;
  });
}
