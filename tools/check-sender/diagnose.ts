import { valuesOf } from 'local-aws/gateway';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import { sha256Hex } from '../../lambda/hash.ts';
import { ACCEPTED, PARKED } from '../../lambda/log-messages.ts';
import { decodeSignature, verify } from '../../lambda/receiver/signature.ts';
import { compressionOf } from './encodings.ts';
import { type Finding, finding, type Grade } from './finding.ts';
import { addressFindings, transportFindings } from './http-findings.ts';
import { knownEvent, payloadFindings } from './payload-findings.ts';
import { type ServiceAnswer, serviceAnswer } from './service-answer.ts';
import { signatureFindings } from './signature-findings.ts';
import type { SentRequest } from './signed-messages.ts';

const GRADES: readonly Grade[] = ['wrong', 'risky', 'fine'];

const WORDS: Readonly<Record<string, Diagnosis['word']>> = { [ACCEPTED]: 'queued', [PARKED]: 'parked' };

/**
 * Finds the mistakes in one request.
 * @param answer of the service to this request
 * @param rest bytes after the end of the request. A rejected request is checked together with them
 */
export async function diagnose(
  request: SentRequest,
  answer: ServiceAnswer,
  secret: string,
  rest: Buffer = Buffer.alloc(0),
): Promise<Diagnosis> {
  const { status } = answer.response;
  const isAccepted = status === 200;
  const isCut = rest.length > 0 && !isAccepted;
  const whole = isCut ? { ...request, body: Buffer.concat([request.body, rest]) } : request;
  const wholeAnswer = isCut ? await serviceAnswer(whole, secret) : answer;
  const causes = await causesOf(whole, wholeAnswer, secret);
  const isSecretFound = causes.some(({ kind }) => kind === 'secret-sent');
  const transport = [...transportFindings(whole, secret, wholeAnswer.response.status === 200)];
  const findings = [...causes, ...transport.filter(({ kind }) => !isSecretFound || kind !== 'secret-sent')];
  const hasLength = valuesOf(request.headers, 'content-length').length > 0;
  const small = hasLength ? 'content-length-small' : 'content-length-small/missing';
  return {
    status,
    word: isAccepted ? WORDS[answer.outcome?.outcome ?? ''] : undefined,
    event: isAccepted ? knownEvent(request.body) : undefined,
    eventId: request.isTooLarge ? undefined : sha256Hex(request.body),
    findings: [
      ...(rest.length > 0 ? [finding(small)] : []),
      ...GRADES.flatMap((grade) => findings.filter((finding) => finding.grade === grade)),
    ],
  };
}

/** The result of checking a request. Contains no sent data except the kind of event, if it is known. */
export interface Diagnosis {
  /** HTTP status of the service's answer. */
  readonly status: number;
  /** `status` in the body of an answer 200. Undefined for other answers. */
  readonly word: 'queued' | 'parked' | undefined;
  readonly event: EventName | undefined;
  /** Id that the service gives the event. Undefined if the body was too large to read. */
  readonly eventId: string | undefined;
  /** Findings, the worst first. */
  readonly findings: readonly Finding[];
}

async function causesOf(request: SentRequest, answer: ServiceAnswer, secret: string): Promise<Finding[]> {
  const { body, headers, receivedAt } = request;
  const address = addressFindings(request);
  if (request.isTooLarge || answer.response.status === 413) return [...address, finding('body-too-large')];
  const outcome = answer.outcome ?? (await outcomeAtAddress(request, secret));
  if (outcome === undefined) return address;
  if (outcome.outcome !== 'Rejected') return [...address, ...payloadFindings(body, receivedAt)];
  const values = valuesOf(headers, 'x-webhook-signature');
  const signature = decodeSignature(values[0]);
  const isCompressed = compressionOf(body, headers) !== undefined;
  if (values.length === 1 && signature !== undefined && verify(body, signature, [secret])) {
    // An HTTP API passes text bodies to the receiver as text, so other bytes are lost (decision D2).
    return [...address, finding(isCompressed ? 'compressed/signed' : 'body-not-utf-8/gateway')];
  }
  const causes = signatureFindings(request, secret);
  // The payload of a compressed body cannot be checked.
  const next = isCompressed ? [] : payloadFindings(body, receivedAt);
  const isHidden = ({ grade, kind }: Finding) =>
    grade === 'wrong' && causes.every((cause) => cause.kind !== kind);
  return [...address, ...causes, ...next.filter(isHidden).map((finding) => ({ ...finding, isNext: true }))];
}

/** What the receiver would do with a request that has a wrong address, so that one verdict names all mistakes. */
async function outcomeAtAddress(request: SentRequest, secret: string): Promise<ServiceAnswer['outcome']> {
  if (request.body.length === 0) return undefined;
  return (await serviceAnswer({ ...request, method: 'POST', path: WEBHOOK_PATH }, secret)).outcome;
}
