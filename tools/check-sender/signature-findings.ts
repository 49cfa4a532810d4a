import { valuesOf } from 'local-aws/gateway';
import { decodeSignature } from '../../lambda/receiver/signature.ts';
import { type Finding, finding } from './finding.ts';
import { isSecret, NO_VALUE, PLACEHOLDER, readings, timestampsIn } from './readings.ts';
import { type SentRequest, signedMessages } from './signed-messages.ts';
import { hmacSha256, type SigningVariant, signingVariants } from './signing-variants.ts';

/** Name of the header as people usually write it. The service ignores case. */
const SHOWN_HEADER = 'X-Webhook-Signature';

/** Headers in which other services send the signature, and likely misspellings of ours. */
const OTHER_HEADERS = `
  X-Signature X-Signature-256 X-Signature-SHA256 X-Hub-Signature-256 X-Hub-Signature X-Webhook-Signature-256
  X-Webhook-Signature-SHA256 X-Webhook-Hmac-SHA256 X-Webhook-Hmac X-Hmac-Signature X-Hmac-SHA256
  X-Shopify-Hmac-SHA256 X-Partner-Signature X_Webhook_Signature HTTP_X_WEBHOOK_SIGNATURE Webhook-Signature
  Stripe-Signature Signature Content-Digest Digest Authorization
`
  .trim()
  .split(/\s+/);

/** Parts of a request whose values may look like a signature by chance. */
const UNNAMED_PLACES = ['another header', 'the query string', 'Content-Digest', 'Digest'];
/** Maximum bytes of a body for which combinations of two mistakes are tried: each pair costs an HMAC of the body. */
const MAX_BYTES_FOR_PAIRS = 32 * 1024;
/** Maximum characters of a header to decode. A longer value cannot be a signature. */
const MAX_VALUE_LENGTH = 1_024;
/** Minimum bytes of a truncated signature to recognise. */
const MIN_CUT_BYTES = 8;

const SECRET_AS_SIGNATURE = finding('secret-sent/as-signature');

/**
 * Explains a wrong signature: searches for a computation with the same result, at first with one mistake, then with
 * two.
 * @param secret the secret that the service verifies with
 * @returns at least one mistake, the cause first
 */
export function signatureFindings(request: SentRequest, secret: string): Finding[] {
  const values = valuesOf(request.headers, SHOWN_HEADER.toLowerCase()).map(readPart);
  const [value] = values;
  if (value === undefined) return findElsewhere(request, secret);
  const mistake = malformed(request, secret, values);
  if (mistake !== undefined) return [mistake];
  const explained = explain(request, secret, [value]);
  if (explained !== undefined) return explained.mistakes;
  return decodeSignature(value) === undefined
    ? [finding('signature-malformed', { length: value.length })]
    : [finding('signature-other', { bytes: request.body.length })];
}

const readPart = (value: string) => value.slice(0, MAX_VALUE_LENGTH);

/** Mistakes that need no search. */
function malformed({ body }: SentRequest, secret: string, values: readonly string[]): Finding | undefined {
  const [value = ''] = values;
  if (values.length > 1) {
    const times = values.length === 2 ? 'twice' : `${values.length} times`;
    const which = new Set(values).size === 1 ? 'the same value' : 'different values';
    return finding('signature-twice', { times, which });
  }
  if (value === '') return finding('signature-empty');
  if (NO_VALUE.test(value) || PLACEHOLDER.test(value)) return finding('signature-no-value');
  const text = value.replace(/^sha256=/, '');
  const bytes = Buffer.from(text, /^(?:[0-9a-f]{2})+$/i.test(text) ? 'hex' : 'base64');
  const right = hmacSha256(secret, body);
  const isCut = bytes.length >= MIN_CUT_BYTES && bytes.length < right.length;
  if (!isCut || !right.subarray(0, bytes.length).equals(bytes)) return undefined;
  return finding('signature-cut', { bytes: bytes.length });
}

/** Searches for the signature in headers and other places where other services send it. */
function findElsewhere(request: SentRequest, secret: string): Finding[] {
  const inQuery = [...new URLSearchParams(request.query).values()];
  const places: [place: string, value: string][] = [
    ...request.headers.map(([name, value]): [string, string] => [shownName(name), value]),
    ...inQuery.map((value): [string, string] => ['the query string', value]),
  ];
  const explained = explain(
    request,
    secret,
    places.map(([, value]) => readPart(value)),
  );
  const index = explained?.index ?? places.findIndex(([place]) => !UNNAMED_PLACES.includes(place));
  const [place] = places[index] ?? [];
  if (place === undefined) return [finding('signature-missing')];
  const { mistakes = [] } = explained ?? {};
  if (mistakes.includes(SECRET_AS_SIGNATURE))
    return [finding('signature-elsewhere/secret', { place }), ...mistakes];
  const content = explained === undefined ? 'something similar is' : 'the signature is';
  return [finding('signature-elsewhere', { content, place }), ...mistakes];
}

const shownName = (header: string) =>
  OTHER_HEADERS.find((known) => known.toLowerCase() === header.toLowerCase()) ?? 'another header';

/** The value that a known computation explains, and its mistakes. Without mistakes, the value is right. */
function explain(
  request: SentRequest,
  secret: string,
  values: readonly string[],
): { index: number; mistakes: Finding[] } | undefined {
  const leaked = values.findIndex((value) => isSecret(value, secret));
  if (leaked !== -1) return { index: leaked, mistakes: [SECRET_AS_SIGNATURE] };
  const all = values.flatMap((value, index) => readings(value).map((reading) => ({ index, ...reading })));
  // If two ways to decode give the same digest, the first one counts.
  const byDigest = new Map(all.reverse().map((reading) => [reading.digest.toString('hex'), reading]));
  if (byDigest.size === 0) return undefined;
  for (const [digest, mistakes] of computations(request, secret, values.flatMap(timestampsIn))) {
    const reading = byDigest.get(digest.toString('hex'));
    if (reading === undefined) continue;
    const { index } = reading;
    // For a digest of another length, the spelling of the value is not the mistake.
    const isRead = digest.length !== 32 || decodeSignature(values[index]) !== undefined;
    const spelling = reading.mistake ?? (isRead ? [] : finding('signature-spelling'));
    return { index, mistakes: [mistakes, spelling].flat() };
  }
  return undefined;
}

type Computation = readonly [digest: Buffer, mistakes: readonly Finding[]];

/** All computations that the sender may have made: first without a mistake, then with one, then with two. */
function* computations(
  request: SentRequest,
  secret: string,
  timestamps: readonly string[],
): Generator<Computation> {
  const { body, earlier = [] } = request;
  const right = { message: body, key: secret, compute: hmacSha256 };
  const computation = (...variants: SigningVariant[]): Computation => {
    const { message, key, compute } = Object.assign({}, right, ...variants.map(({ change }) => change));
    return [compute(key, message), variants.map(({ mistake }) => mistake)];
  };
  yield computation();
  const likely: SigningVariant[] = [];
  const counts = new Map<string, number>();
  for (const variant of variantsOf(request, secret, timestamps)) {
    yield computation(variant);
    const { kind } = variant.mistake;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (body.length <= MAX_BYTES_FOR_PAIRS && count <= maxInPairs(variant)) likely.push(variant);
  }
  for (const digest of earlier) yield [digest, [finding('signed-event-before')]];
  for (const [index, first] of likely.entries()) {
    for (const second of likely.slice(index + 1)) {
      const [part = ''] = Object.keys(first.change);
      if (!(part in second.change)) yield computation(first, second);
    }
  }
}

function* variantsOf(request: SentRequest, secret: string, timestamps: readonly string[]) {
  yield* signedMessages(request, timestamps);
  yield* signingVariants(secret);
}

/**
 * Maximum number of variants of each kind that are combined with others, the most likely first. All pairs
 * take less than a second.
 */
const maxInPairs = ({ change }: SigningVariant) => ('message' in change ? 10 : 'key' in change ? 2 : 4);
