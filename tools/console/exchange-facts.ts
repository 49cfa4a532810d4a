import { WEBHOOK_PATH } from '../../lambda/contract/webhook-path.ts';
import { tableKey } from '../../lambda/effects/table-key.ts';
import type { Exchange } from '../../local/observation.ts';

/** Bytes of a body up to which it is parsed; of a longer one its beginning is looked through. */
const PARSED_BYTES = 64 * 1024;

/** What a row needs of a request and its answer. */
export interface ExchangeFacts {
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  readonly status: number;
  /** Whether the receiver gave the answer, and not API Gateway by itself. */
  readonly byReceiver: boolean;
  /** `status` of an answer 200: `queued`, `parked`. */
  readonly accepted?: string | undefined;
  /** Of an answer that is an error. */
  readonly error?: string | undefined;
  readonly eventId?: string | undefined;
  readonly event?: string | undefined;
  readonly shopId?: string | undefined;
  /** Of the body. */
  readonly bytes?: number | undefined;
}

/** @returns undefined for what nobody would call a delivery: a browser that looks at the address */
export function exchangeFacts(exchange: Exchange): ExchangeFacts | undefined {
  const { method, path, status, body, receivedAt } = exchange;
  if ((method === 'GET' || method === 'HEAD') && path !== WEBHOOK_PATH) return undefined;
  const answer = objectOf(exchange.responseBody);
  // API Gateway's own answers have a message only.
  const byReceiver = status === 200 || typeof answer?.type === 'string';
  const { event, shopId } = status === 200 || status === 400 ? payloadFacts(body) : {};
  return {
    receivedAt: receivedAt.getTime(),
    status,
    byReceiver,
    accepted: status === 200 ? textOf(answer?.status) : undefined,
    error: status === 200 ? undefined : errorOf(answer, status),
    eventId: textOf(answer?.eventId),
    event,
    shopId,
    bytes: body?.length,
  };
}

function errorOf(answer: Readonly<Record<string, unknown>> | undefined, status: number): string {
  return textOf(answer?.detail) ?? textOf(answer?.message) ?? `HTTP ${status}`;
}

/** Kind and shop of a payload, as far as they can be seen. */
function payloadFacts(body: Buffer | undefined): { event?: string | undefined; shopId?: string | undefined } {
  if (body === undefined) return {};
  if (body.length > PARSED_BYTES) return seen(body.toString('utf8', 0, PARSED_BYTES));
  const payload = objectOf(body);
  const data = payload?.data;
  return {
    event: textOf(payload?.event),
    shopId: isObject(data) ? shopOf(data.shop_id) : undefined,
  };
}

const EVENT = /"event"\s*:\s*("(?:[^"\\]|\\.){1,200}")/;
const SHOP = /"shop_id"\s*:\s*("(?:[^"\\]|\\.){1,4096}"|\d{1,15}(?=\s*[,}]))/;

/** Of a text that is cut off. */
function seen(text: string): { event?: string | undefined; shopId?: string | undefined } {
  return {
    event: textOf(parsed(EVENT.exec(text)?.[1])),
    shopId: shopOf(parsed(SHOP.exec(text)?.[1])),
  };
}

function objectOf(bytes: Buffer): Record<string, unknown> | undefined {
  const value = bytes.length > PARSED_BYTES ? undefined : parsed(bytes.toString());
  return isObject(value) ? value : undefined;
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/** As archive and tables have it. */
function shopOf(value: unknown): string | undefined {
  if (typeof value !== 'number' && textOf(value) === undefined) return undefined;
  return tableKey(String(value));
}
