import type { EventName } from '../../../lambda/events/catalogue.ts';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { ENCODED_BODY_MEGABYTES, EVENT_MEGABYTES } from '../../../lambda/limits.ts';
import { ACCEPTED, PARKED } from '../../../lambda/log-messages.ts';
import { decodeSignature, verify } from '../../../lambda/receiver/signature.ts';
import { valuesOf } from '../../../local/gateway/http-message.ts';
import { compressionOf } from './encodings.ts';
import { type Finding, type Grade, wrong } from './finding.ts';
import { addressFindings, transportFindings } from './http-findings.ts';
import { knownEvent, payloadFindings } from './payload-findings.ts';
import { trailingBytesFinding } from './request-bytes.ts';
import { type ServiceAnswer, serviceAnswer } from './responses.ts';
import { signatureFindings } from './signature-findings.ts';
import type { SentRequest } from './signed-messages.ts';

/** The result of checking a request. Contains none of the sent data except the kind of event, if it is known. */
export interface Diagnosis {
  /** The service's answer: `200`. */
  readonly status: number;
  /**
   * The meaning of the answer for the event: `queued`, `parked`. Undefined if it is rejected or did not reach the
   * receiver.
   */
  readonly word: 'queued' | 'parked' | undefined;
  readonly event: EventName | undefined;
  /** The service's id of the delivery: the SHA-256 of the body. Undefined if the body was too large to keep. */
  readonly eventId: string | undefined;
  /** The worst first. */
  readonly findings: readonly Finding[];
}

const GRADES: readonly Grade[] = ['wrong', 'risky', 'fine'];

const WORDS: Readonly<Record<string, Diagnosis['word']>> = { [ACCEPTED]: 'queued', [PARKED]: 'parked' };

/**
 * Finds the mistakes in one request.
 * @param answer the service's own
 * @param rest bytes after the end of the request. If the request is rejected, the body is checked together with them
 */
export async function diagnose(
  request: SentRequest,
  answer: ServiceAnswer,
  secret: string,
  rest: Buffer = Buffer.alloc(0),
): Promise<Diagnosis> {
  const { status } = answer.response;
  const isAccepted = status === 200;
  const hasLength = valuesOf(request.headers, 'content-length').length > 0;
  const whole = { ...request, body: Buffer.concat([request.body, rest]) };
  const isCut = rest.length > 0 && !isAccepted;
  const judged = isCut ? whole : request;
  const judgedAnswer = isCut ? await serviceAnswer(whole, async () => whole.body, secret) : answer;
  const findings = await findingsOf(judged, judgedAnswer, secret);
  return {
    status,
    word: isAccepted ? WORDS[answer.outcome?.outcome ?? ''] : undefined,
    event: isAccepted ? knownEvent(request.body) : undefined,
    eventId: sha256Hex(request.body),
    findings: [
      ...(rest.length > 0 ? [trailingBytesFinding(hasLength)] : []),
      ...GRADES.flatMap((grade) => findings.filter((finding) => finding.grade === grade)),
    ],
  };
}

async function findingsOf(request: SentRequest, answer: ServiceAnswer, secret: string): Promise<Finding[]> {
  const { status } = answer.response;
  const causes = status === 413 ? [TOO_LARGE] : await causesOf(request, answer, secret);
  const transport = transportFindings(request, secret, status === 200);
  const isSecretFound = causes.some(({ kind }) => kind === 'secret-sent');
  return [...causes, ...transport.filter(({ kind }) => !isSecretFound || kind !== 'secret-sent')];
}

async function causesOf(request: SentRequest, answer: ServiceAnswer, secret: string): Promise<Finding[]> {
  const { body, headers, receivedAt } = request;
  const address = addressFindings(request);
  const outcome = answer.outcome ?? (await outcomeAtAddress(request, secret));
  if (outcome === undefined) return address;
  if (outcome.outcome !== 'Rejected') return [...address, ...payloadFindings(body, receivedAt)];
  const values = valuesOf(headers, 'x-webhook-signature');
  const signature = decodeSignature(values[0]);
  const isCompressed = compressionOf(request) !== undefined;
  if (values.length === 1 && signature !== undefined && verify(body, signature, [secret])) {
    return [...address, isCompressed ? SIGNED_COMPRESSED : NOT_UTF_8];
  }
  const causes = signatureFindings(request, secret);
  // A compressed payload cannot be read.
  const next = isCompressed ? [] : payloadFindings(body, receivedAt);
  return [
    ...address,
    ...causes,
    ...next
      .filter(({ grade, kind }) => grade === 'wrong' && causes.every((cause) => cause.kind !== kind))
      .map((finding) => ({ ...finding, isNext: true })),
  ];
}

/**
 * The answer that the receiver would give to a request that did not reach it. With it, one verdict names all mistakes.
 */
async function outcomeAtAddress(request: SentRequest, secret: string): Promise<ServiceAnswer['outcome']> {
  if (request.body.length === 0) return undefined;
  const addressed = { ...request, method: 'POST', path: WEBHOOK_PATH };
  return (await serviceAnswer(addressed, async () => request.body, secret)).outcome;
}

export const TOO_LARGE: Finding = wrong({
  kind: 'body-too-large',
  what: `The body is too large. The service accepts about ${EVENT_MEGABYTES} MB of JSON, or ${ENCODED_BODY_MEGABYTES} MB of another content type.`,
  remedy: 'Send only what identifies the change, not data that can be fetched.',
});

const SIGNED_COMPRESSED = wrong({
  kind: 'compressed',
  what: 'The body is compressed, and the signature covers the compressed bytes.',
  remedy: 'Sign the JSON and send it uncompressed. The service does not decompress.',
});

/** An HTTP API passes text bodies on as text (decision D2). */
const NOT_UTF_8 = wrong({
  kind: 'body-not-utf-8',
  what: 'The signature is correct, but the body is not UTF-8. The gateway replaces invalid bytes, so the signature no longer matches.',
  remedy: 'Encode the text as UTF-8 before you sign it.',
});
