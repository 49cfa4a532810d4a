import { decodeSignature } from '../../../../lambda/receiver/signature.ts';
import { type Header, valuesOf } from '../../../../local/gateway/http-message.ts';
import { type Finding, type Mistake, wrong } from '../finding.ts';
import type { SentRequest } from '../sent-request.ts';
import { isSecret } from './secret-in-text.ts';
import { type Reading, readings, timestampsIn } from './signature-spellings.ts';
import { signedMessages } from './signed-messages.ts';
import { hmacSha256, signingAlgorithms } from './signing-algorithms.ts';
import { signingKeys } from './signing-keys.ts';

/** As people write it; the service looks for it in any case. */
const SHOWN_HEADER = 'X-Webhook-Signature';

const HEADER = SHOWN_HEADER.toLowerCase();

/** Where other services have it, and what becomes of ours in a wrong setting. */
const OTHER_HEADERS = [
  'X-Signature',
  'X-Signature-256',
  'X-Signature-SHA256',
  'X-Hub-Signature-256',
  'X-Hub-Signature',
  'X-Webhook-Signature-256',
  'X-Webhook-Signature-SHA256',
  'X-Webhook-Hmac-SHA256',
  'X-Webhook-Hmac',
  'X-Hmac-Signature',
  'X-Hmac-SHA256',
  'X-Shopify-Hmac-SHA256',
  'X-Partner-Signature',
  'X_Webhook_Signature',
  'HTTP_X_WEBHOOK_SIGNATURE',
  'Webhook-Signature',
  'Stripe-Signature',
  'Signature',
  'Content-Digest',
  'Digest',
  'Authorization',
];

/** Bytes of a body up to which two mistakes at a time are looked for: each pair costs an HMAC of it. */
const MOST_BYTES_FOR_PAIRS = 32 * 1024;

/** Of each kind, how many are looked for in pairs: they stand in the order in which they are likely. */
const MOST_IN_PAIRS = { messages: 10, keys: 2, algorithms: 4 };

/** Characters that are read of a header: what is longer is no signature in any spelling. */
const LONGEST_VALUE = 1_024;

/** Times in values that are tried: each costs a dozen HMACs of the body. */
const MOST_TIMESTAMPS = 4;

/** Bytes of a signature that was cut off which are enough to know it again. */
const FEWEST_BYTES = 8;

/**
 * Why a signature does not verify: what fits, of all mistakes that are known, or of two at a time.
 * @param secret that it should have been made with
 * @returns at least one, the cause before what goes with it
 */
export function signatureFindings(request: SentRequest, secret: string): Finding[] {
  const values = valuesOf(request.headers, HEADER).map((value) => value.slice(0, LONGEST_VALUE));
  const [value] = values;
  if (value === undefined) return elsewhere(request, secret);
  if (values.length > 1) return [wrong(severalOf(values))];
  if (value === '') {
    return [
      wrong({
        kind: 'signature-empty',
        what: `${SHOWN_HEADER} is there, and empty.`,
        remedy: 'See that the signature is made before the request is: the variable with it has nothing yet.',
      }),
    ];
  }
  const mistakes = noSignature(request, secret, value) ?? explain(request, secret, [value])[0];
  if (mistakes !== undefined) return mistakes.map(wrong);
  return [wrong(unexplained(request, value))];
}

function severalOf(values: readonly string[]): Mistake {
  const same = new Set(values).size === 1;
  return {
    kind: 'signature-twice',
    what: `${SHOWN_HEADER} is there ${values.length === 2 ? 'twice' : `${values.length} times`}, ${same ? 'with the same value' : 'with different values'}.`,
    remedy: 'Set the header once: a client that adds to it, and a proxy that repeats it, join the two.',
  };
}

/** What is said where the request has no signature in its place. */
function elsewhere(request: SentRequest, secret: string): Finding[] {
  const places = OTHER_HEADERS.map((shown) => ({
    shown,
    values: valuesOf(request.headers, shown.toLowerCase()),
  }))
    .concat({ shown: 'another header', values: unknownHeaders(request.headers) })
    .concat({ shown: 'the query string', values: [...new URLSearchParams(request.query).values()] })
    .flatMap(({ shown, values }) => values.map((value) => ({ shown, value: value.slice(0, LONGEST_VALUE) })));
  const explained = explain(
    request,
    secret,
    places.map(({ value }) => value),
  );
  const found = places.map(({ shown }, index) => ({ shown, mistakes: explained[index] }));
  const [best] = found
    .filter(({ mistakes }) => mistakes !== undefined)
    .sort((a, b) => (a.mistakes?.length ?? 0) - (b.mistakes?.length ?? 0));
  const named = best ?? found.find(({ shown, mistakes }) => mistakes === undefined && isNamed(shown));
  if (named === undefined) {
    return [
      wrong({
        kind: 'signature-missing',
        what: `There is no ${SHOWN_HEADER}.`,
        remedy: 'Send the HMAC-SHA256 of the body, keyed with the secret, as 64 hex digits in that header.',
      }),
    ];
  }
  return [
    wrong({
      kind: 'signature-elsewhere',
      what: `There is no ${SHOWN_HEADER}; ${thereIs(named.mistakes)} in ${named.shown}.`,
      remedy: named.mistakes?.includes(secretAsSignature)
        ? `Send the HMAC-SHA256 of the body in ${SHOWN_HEADER}, and the secret nowhere.`
        : `Send it in ${SHOWN_HEADER}.`,
    }),
    ...(named.mistakes ?? []).map(wrong),
  ];
}

function thereIs(mistakes: readonly Mistake[] | undefined): string {
  if (mistakes === undefined) return 'there is something';
  return mistakes.includes(secretAsSignature) ? 'the secret itself is' : 'the signature is';
}

/** Their values look like signatures without being meant as one. */
const isNamed = (shown: string) =>
  shown !== 'another header' && shown !== 'the query string' && !shown.endsWith('Digest');

function unknownHeaders(headers: readonly Header[]): string[] {
  const known = new Set([...OTHER_HEADERS.map((name) => name.toLowerCase()), HEADER]);
  return headers.filter(([name]) => !known.has(name.toLowerCase())).map(([, value]) => value);
}

/**
 * The mistakes by which signatures came to be what they are. What may have been computed is computed once for all of them,
 * until one is explained.
 * @returns for each: undefined where none that is known explains it; nothing where it is right
 */
function explain(request: SentRequest, secret: string, values: readonly string[]): (Mistake[] | undefined)[] {
  const explained = values.map((value) => (isSecret(value, secret) ? [secretAsSignature] : undefined));
  if (explained.some((mistakes) => mistakes !== undefined)) return explained;
  const byDigest = new Map<string, { index: number; value: string; reading: Reading }>();
  for (const [index, value] of values.entries()) {
    for (const reading of readings(value)) {
      const hex = reading.digest.toString('hex');
      if (!byDigest.has(hex)) byDigest.set(hex, { index, value, reading });
    }
  }
  if (byDigest.size === 0) return explained;
  const timestamps = values.flatMap(timestampsIn).slice(0, MOST_TIMESTAMPS);
  for (const { digest, mistakes } of computations(request, secret, timestamps)) {
    const found = byDigest.get(digest.toString('hex'));
    if (found === undefined) continue;
    const { index, value, reading } = found;
    const spelling = reading.mistake ?? (isReadable(value, reading) ? undefined : OTHER_SPELLING);
    explained[index] = [...mistakes, ...(spelling === undefined ? [] : [spelling])];
    break;
  }
  return explained;
}

/** That the service reads it, or would if it were as long as it must be. */
const isReadable = (value: string, { digest }: Reading) =>
  decodeSignature(value) !== undefined || digest.length !== 32;

const OTHER_SPELLING: Mistake = {
  kind: 'signature-spelling',
  what: 'The signature is right, and is spelt as the service does not read it: it may be the padding.',
  remedy: 'Send the 32 bytes as 64 hex digits, or as base64 with one equals sign at its end.',
};

const secretAsSignature: Mistake = {
  kind: 'secret-sent',
  what: 'The secret itself was sent in place of a signature.',
  remedy: 'Never send it: it is the key of the HMAC. Take it for known to others now, and agree on another.',
};

const signedBefore: Mistake = {
  kind: 'signed-event-before',
  what: 'The signature is over the body of an event that was sent before.',
  remedy: 'Make the signature anew for each request: a variable, a header or an object is used again.',
};

interface Computation {
  readonly digest: Buffer;
  readonly mistakes: readonly Mistake[];
}

/** What may have been computed: the right thing first, then one mistake at a time, then two. */
function* computations(
  request: SentRequest,
  secret: string,
  timestamps: readonly string[],
): Generator<Computation, undefined> {
  const key = Buffer.from(secret);
  const { body } = request;
  yield { digest: hmacSha256(key, body), mistakes: [] };
  const messages = [...signedMessages(request, timestamps)];
  const keys = [...signingKeys(secret)];
  for (const { bytes, mistake } of messages) yield { digest: hmacSha256(key, bytes), mistakes: [mistake] };
  for (const digest of request.earlier ?? []) yield { digest, mistakes: [signedBefore] };
  for (const { bytes, mistake } of keys) yield { digest: hmacSha256(bytes, body), mistakes: [mistake] };
  for (const { compute, mistake } of signingAlgorithms) {
    yield { digest: compute(key, body), mistakes: [mistake] };
  }
  if (body.length > MOST_BYTES_FOR_PAIRS) return undefined;
  const likelyKeys = firstOfEachKind(keys, MOST_IN_PAIRS.keys);
  for (const message of firstOfEachKind(messages, MOST_IN_PAIRS.messages)) {
    for (const { bytes, mistake } of likelyKeys) {
      yield { digest: hmacSha256(bytes, message.bytes), mistakes: [message.mistake, mistake] };
    }
    yield* byOtherAlgorithms(key, message.bytes, message.mistake);
  }
  for (const { bytes, mistake } of likelyKeys) yield* byOtherAlgorithms(bytes, body, mistake);
  return undefined;
}

function* byOtherAlgorithms(key: Uint8Array, message: Uint8Array, other: Mistake): Generator<Computation> {
  for (const { compute, mistake } of likelyAlgorithms) {
    yield { digest: compute(key, message), mistakes: [other, mistake] };
  }
}

/** The likeliest of each kind, so that pairs cost no second. */
function firstOfEachKind<Guess extends { readonly mistake: Mistake }>(
  guesses: readonly Guess[],
  most: number,
): Guess[] {
  const counts = new Map<string, number>();
  return guesses.filter(({ mistake: { kind } }) => {
    const count = counts.get(kind) ?? 0;
    counts.set(kind, count + 1);
    return count < most;
  });
}

const likelyAlgorithms = firstOfEachKind(signingAlgorithms, MOST_IN_PAIRS.algorithms);

/** Texts that a program writes where it has no signature. */
const NO_VALUE =
  /^(?:undefined|null|none|nil|nan|true|false|\[object \w+\]|<buffer.*|\$\{?\w+\}?|\{\{.*\}\})$/i;

/** @returns undefined where it may be one */
function noSignature({ body }: SentRequest, secret: string, value: string): Mistake[] | undefined {
  if (NO_VALUE.test(value)) {
    return [
      {
        kind: 'signature-no-value',
        what: `${SHOWN_HEADER} holds the text of something that is no signature, such as undefined or [object Object].`,
        remedy: 'Send the text that the digest gives in hex: not the hash object, and not what is empty yet.',
      },
    ];
  }
  const right = hmacSha256(Buffer.from(secret), body);
  const cut = readPrefix(value);
  const isCut = cut.length >= FEWEST_BYTES && cut.length < right.length;
  if (!isCut || !right.subarray(0, cut.length).equals(cut)) return undefined;
  return [
    {
      kind: 'signature-cut',
      what: `The signature is right, and cut off after ${cut.length} of its 32 bytes.`,
      remedy: 'Send all 32 bytes: 64 hex digits, or 44 characters of base64.',
    },
  ];
}

function unexplained({ body }: SentRequest, value: string): Mistake {
  if (decodeSignature(value) === undefined) {
    return {
      kind: 'signature-malformed',
      what: `${SHOWN_HEADER} holds no signature that can be read: ${value.length} characters, where 64 hex digits or 43 to 44 of base64 are expected.`,
      remedy: 'Send the 32 bytes of the HMAC-SHA256 as 64 hex digits.',
    };
  }
  return {
    kind: 'signature-other',
    what: `The signature is well formed, and over other bytes or with another secret than ours: no known mistake explains it.`,
    remedy: `Compare the secrets first. Then compare the SHA-256 of what you sign with that of the ${body.length} bytes that came, which is the event id above.`,
  };
}

function readPrefix(value: string): Buffer {
  const text = value.replace(/^sha256=/, '');
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex');
  return Buffer.from(text, 'base64');
}
