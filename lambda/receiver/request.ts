import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { SIGNATURE_HEADER } from './signature.ts';

/** The one path that the partner posts to (`docs/contract.md`, Endpoint). */
export const WEBHOOK_PATH = '/api/v1/webhooks/partner';

/** Prefix of the smoke test's request ids. API Gateway's own never have it, and a sender cannot choose one. */
export const SMOKE_TEST_PREFIX = 'smoke-test-';

/** Whether a request is a probe of the smoke test (decision 28). It is no delivery, and must not trigger an alarm. */
export const isSmokeTest = (requestId: string): boolean => requestId.startsWith(SMOKE_TEST_PREFIX);

/** Name in the stack of the queue for probes. Nothing receives from it. */
export const SMOKE_TEST_QUEUE = 'SmokeTestQueue';

/** The event of API Gateway: payload format 2.0 of an HTTP API, or 1.0 of a REST API. */
export type GatewayEvent = APIGatewayProxyEventV2 | APIGatewayProxyEvent;

/** The parts of a request that the receiver uses, for both kinds of API. */
export interface WebhookRequest {
  readonly requestId: string;
  /** Milliseconds since the epoch, by API Gateway's clock. */
  readonly receivedAt: number;
  readonly sourceIp: string;
  /**
   * Values of `X-Webhook-Signature` (`docs/contract.md`, Endpoint). Several are joined by commas, which makes them
   * invalid.
   */
  readonly signature: string | undefined;
  /** The bytes that the partner signed (decision D2): never a re-serialised form. */
  readonly body: Buffer;
}

/** Reads either payload format. Source: API Gateway developer guide, "Payload format version". */
export function readRequest(event: GatewayEvent): WebhookRequest {
  const requestId = requestIdOf(event);
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (!isFormat1(event)) {
    const { timeEpoch, http } = event.requestContext;
    const signature = event.headers[SIGNATURE_HEADER];
    return { requestId, receivedAt: timeEpoch, sourceIp: http.sourceIp, signature, body };
  }
  const { requestTimeEpoch, identity } = event.requestContext;
  return {
    requestId,
    receivedAt: requestTimeEpoch,
    sourceIp: identity.sourceIp,
    signature: headerOf(event, SIGNATURE_HEADER),
    body,
  };
}

/**
 * The id that API Gateway gave the request. For a REST API it is the extended id, because a client can choose the other
 * one with the header `x-amzn-requestid`. Source: API Gateway developer guide, "Variables for access logging",
 * `$context.requestId`.
 */
export function requestIdOf(event: GatewayEvent): string {
  const { requestContext } = event;
  return isFormat1(event) ? (event.requestContext.extendedRequestId ?? '') : requestContext.requestId;
}

const isFormat1 = (event: GatewayEvent): event is APIGatewayProxyEvent => 'multiValueHeaders' in event;

/** Format 1.0 keeps the sender's case of header names, and `headers` has only the last of several values. */
function headerOf({ multiValueHeaders }: APIGatewayProxyEvent, name: string): string | undefined {
  // Null if a request has no header, although the type says otherwise.
  const values = Object.entries(multiValueHeaders ?? {}).flatMap(([key, all = []]) =>
    key.toLowerCase() === name ? all : [],
  );
  return values.length === 0 ? undefined : values.join(',');
}
