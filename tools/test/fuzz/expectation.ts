import { isUtf8 } from 'node:buffer';
import { createHash, createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { catalogue, type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { TEST_SECRET } from '../../../test/support/partner.ts';
import type { GatewayKind } from '../../terminal/options.ts';
import { type FuzzRequest, headersOf } from './requests.ts';

/**
 * What the receiver must do with a request, by the decisions D1, D2, D4, D5 and D9 to D11. Written
 * independently of the receiver and in another style, so that both rarely have the same error.
 */
export type Expectation =
  | { readonly status: 401 }
  | { readonly status: 400; readonly bytes: Buffer; readonly eventId: string }
  | {
      readonly status: 200;
      readonly bytes: Buffer;
      readonly eventId: string;
      readonly queue: EventName | 'unrouted';
      readonly text: string;
    };

export function expectationOf(request: FuzzRequest, gateway: GatewayKind): Expectation {
  const { body = '', isBase64Encoded } = request;
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : Buffer.from(body, 'utf8');
  const mac = createHmac('sha256', TEST_SECRET).update(bytes).digest();
  const signatures = headersOf(request).filter(
    ([name]) => (gateway === 'rest' ? name.toLowerCase() : name) === 'x-webhook-signature',
  );
  const [signature] = signatures;
  if (signature === undefined || signatures.length > 1 || !isSignature(signature[1], mac))
    return { status: 401 };
  const eventId = createHash('sha256').update(bytes).digest('hex');
  const usable = usableEvent(bytes);
  if (usable === undefined) return { status: 400, bytes, eventId };
  return { status: 200, bytes, eventId, ...usable };
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function isSignature(header: string, mac: Buffer): boolean {
  const value = header.startsWith('sha256=') ? header.slice(7) : header;
  if (value.length === 64) return value.toLowerCase() === mac.toString('hex');
  const digits = value.length === 44 && value.endsWith('=') ? value.slice(0, 43) : value;
  if (digits.length !== 43) return false;
  return [`${BASE64}+/`, `${BASE64}-_`].some((alphabet) => {
    const values = [...digits].map((digit) => alphabet.indexOf(digit));
    if (values.includes(-1)) return false;
    const bits = values.map((six) => six.toString(2).padStart(6, '0')).join('');
    // 43 base64 digits have 258 bits. The last two belong to no byte.
    return bits.slice(0, 256) === [...mac].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  });
}

type JsonFields = Record<string, unknown>;

const isObject = (value: unknown): value is JsonFields =>
  Object.prototype.toString.call(value) === '[object Object]' && !Array.isArray(value);
const isId = (value: unknown) => typeof value === 'string' && value !== '' && !/\p{Cs}/u.test(value);
const isEitherId = (value: unknown) => isId(value) || Number.isSafeInteger(value);
const isTextOrAbsent = (value: unknown) => value === undefined || typeof value === 'string';

const usableData: Partial<Record<EventName, (data: JsonFields) => boolean>> = {
  'shop.updated': ({ shop_id, name, updated_fields: list }) =>
    isId(shop_id) &&
    isTextOrAbsent(name) &&
    (list === undefined || (Array.isArray(list) && list.every((item) => typeof item === 'string'))),
  'girl.schedule_changed': () => true,
  'girl.created': ({ girl_id }) => isEitherId(girl_id),
  'girl.deleted': ({ girl_id }) => isEitherId(girl_id),
  'review.posted': () => true,
  'user.updated': ({ user_id, shop_id, display_name, profile_image_url }) =>
    isId(user_id) && [shop_id, display_name, profile_image_url].every(isTextOrAbsent),
};

function usableEvent(bytes: Buffer): { queue: EventName | 'unrouted'; text: string } | undefined {
  if (!isUtf8(bytes)) return undefined;
  const whole = bytes.toString('utf8');
  const text = whole.startsWith('\ufeff') ? whole.slice(1) : whole;
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(payload)) return undefined;
  const { event, data, timestamp } = payload;
  if (typeof event !== 'string' || event === '' || !isObject(data) || !isUtcDateTime(timestamp))
    return undefined;
  const known = eventNames.find((name) => name === event);
  if (known === undefined) return { queue: 'unrouted', text };
  return usableData[known]?.(data) === false ? undefined : { queue: known, text };
}

function isUtcDateTime(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const match = /^(\d{4})-(\d\d)-(\d\d)t(\d\d):(\d\d)(?::(\d\d)([.,]\d+)?)?(z|[+-](?:00|0000|00:00))$/i.exec(
    value,
  );
  if (match === null || match[0] !== value) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((digits = '0') => Number(digits));
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day >= 1 && day <= days && hour <= 23 && minute <= 59 && second <= 59;
}

/** Names of all known fields of `data`, for a regular expression. */
const OWN_FIELD = eventNames.flatMap((event) => Object.keys(catalogue[event].data.entries)).join('|');

/** Fields that the answer 400 may name. It must never name a field that the partner invented. */
const FIELD = new RegExp(`^(?:body|event|data|timestamp|data\\.(?:${OWN_FIELD})(?:\\.\\d+)?)$`);
const DETAIL =
  /^(?:must not be empty|must be (?:UTF-8|JSON|a JSON object|well-formed Unicode)|(?:is missing: expected|must be) (?:an object|a string|an array of strings|a non-empty string|a non-empty string or an integer below 2\^53|an ISO 8601 date-time in UTC, such as 2026-01-31T09:00:00Z))$/;

/**
 * Checks an answer by decision D3. All possible words of an answer are known, so it cannot contain anything
 * of the request.
 */
export function problemOfAnswer(
  { statusCode, headers, body = '' }: APIGatewayProxyStructuredResultV2,
  requestId: string,
  expectation: Expectation,
): string | undefined {
  if (statusCode !== expectation.status) return `${statusCode}, but ${expectation.status} was due`;
  const contentType = statusCode === 200 ? 'application/json' : 'application/problem+json';
  if (!isDeepStrictEqual(headers, { 'content-type': contentType })) return 'Other headers';
  const answer = JSON.parse(body);
  const due = dueBody(expectation, requestId, answer.errors);
  return isDeepStrictEqual(answer, due) ? undefined : `An answer of another form: ${body}`;
}

function dueBody(expectation: Expectation, requestId: string, errors: unknown): unknown {
  if (expectation.status === 200) {
    const status = expectation.queue === 'unrouted' ? 'parked' : 'queued';
    return { status, eventId: expectation.eventId, requestId };
  }
  if (expectation.status === 401) {
    return {
      type: 'urn:partner-webhooks:problem:invalid-signature',
      title: 'Invalid signature',
      status: 401,
      detail: 'X-Webhook-Signature is not the HMAC-SHA256 of the request body under the shared secret.',
      requestId,
    };
  }
  const list = (Array.isArray(errors) ? errors : []) as { field: string; detail: string }[];
  const sound = list.filter(({ field, detail }) => FIELD.test(field) && DETAIL.test(detail)).slice(0, 20);
  if (sound.length === 0) return 'one problem at least';
  return {
    type: 'urn:partner-webhooks:problem:unusable-event',
    title: 'Unusable event',
    status: 400,
    detail: `The payload was kept for review. ${sound.map(({ field, detail }) => `${field} ${detail}`).join('; ')}.`,
    errors: sound.map(({ field, detail }) => ({ field, detail })),
    requestId,
  };
}
