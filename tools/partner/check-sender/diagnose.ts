import type { EventName } from '../../../lambda/events/catalogue.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { decodeSignature, verify } from '../../../lambda/receiver/signature.ts';
import { valuesOf } from '../../../local/gateway/http-message.ts';
import type { Finding, Grade } from './finding.ts';
import { wrong } from './finding.ts';
import { addressFindings, transportFindings } from './http-findings.ts';
import { knownEvent, payloadFindings } from './payload/payload-findings.ts';
import type { SentRequest } from './sent-request.ts';
import type { ServiceAnswer } from './service.ts';
import { signatureFindings } from './signature/signature-findings.ts';
import { compressionOf } from './signature/signed-messages.ts';

/** What is right and what is wrong with a request. Shows nothing that was sent but the kind of event, where we know it. */
export interface Diagnosis {
  /** The service's answer: `200`. */
  readonly status: number;
  /** What that means for the event: `queued`, `parked`; undefined where it is refused, or went astray. */
  readonly word: 'queued' | 'parked' | undefined;
  readonly event: EventName | undefined;
  /** As the service names the delivery: the SHA-256 of the body. */
  readonly eventId: string;
  /** The worst first. */
  readonly findings: readonly Finding[];
}

const ORDER: readonly Grade[] = ['wrong', 'risky', 'fine'];

/**
 * Says what there is to say about one request.
 * @param answer the service's own
 */
export function diagnose(request: SentRequest, answer: ServiceAnswer, secret: string): Diagnosis {
  const { status } = answer.response;
  const own = causes(request, answer, secret);
  const isSecretTold = own.some(({ kind }) => kind === 'secret-sent');
  const findings = [
    ...own,
    ...transportFindings(request, secret, status === 200).filter(
      ({ kind }) => !isSecretTold || kind !== 'secret-sent',
    ),
  ];
  return {
    status,
    word: status === 200 ? wordOf(answer) : undefined,
    event: status === 200 ? knownEvent(request.body) : undefined,
    eventId: sha256Hex(request.body),
    findings: ORDER.flatMap((grade) => findings.filter((finding) => finding.grade === grade)),
  };
}

function wordOf({ outcome }: ServiceAnswer): Diagnosis['word'] {
  if (outcome?.outcome === 'Accepted') return 'queued';
  return outcome?.outcome === 'Parked' ? 'parked' : undefined;
}

function causes(request: SentRequest, { response, outcome }: ServiceAnswer, secret: string): Finding[] {
  const address = addressFindings(request);
  if (outcome === undefined) {
    if (response.status === 413) return [tooLarge];
    return address;
  }
  if (outcome.outcome !== 'Rejected')
    return [...address, ...payloadFindings(request.body, request.receivedAt)];
  const [value] = valuesOf(request.headers, 'x-webhook-signature');
  const signature = decodeSignature(value);
  const fitsBytes = signature !== undefined && verify(request.body, signature, [secret]);
  if (fitsBytes && valuesOf(request.headers, 'x-webhook-signature').length === 1) {
    return [...address, compressionOf(request) === undefined ? notUtf8 : signedCompressed];
  }
  const causes = signatureFindings(request, secret);
  return [...address, ...causes, ...nextFindings(request, causes)];
}

/** What would be wrong once the signature is right. Of a compressed body nothing can be said. */
function nextFindings(request: SentRequest, told: readonly Finding[]): Finding[] {
  if (compressionOf(request) !== undefined) return [];
  return payloadFindings(request.body, request.receivedAt)
    .filter(({ grade, kind }) => grade === 'wrong' && told.every((other) => other.kind !== kind))
    .map((finding) => ({ ...finding, isNext: true }));
}

export const tooLarge: Finding = wrong({
  kind: 'body-too-large',
  what: 'The body is larger than the service takes: some 6 MB of JSON, 4.5 MB of another content type.',
  remedy: 'Send what identifies the change, and not what can be fetched.',
});

const signedCompressed: Finding = wrong({
  kind: 'compressed',
  what: 'The body is compressed, and the signature is over the compressed bytes.',
  remedy: 'Sign the JSON, and send it uncompressed: the service decompresses nothing.',
});

/** An HTTP API hands text over as text (decision D2). */
const notUtf8: Finding = wrong({
  kind: 'body-not-utf-8',
  what: 'The signature is right, and the body is not UTF-8: the gateway replaces what is not, so it no longer fits.',
  remedy: 'Turn the text into bytes as UTF-8, before it is signed.',
});
