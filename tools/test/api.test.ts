import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { httpApi } from 'local-aws/http-api';
import { type InvocationResult, TooManyRequestsError } from 'local-aws/invocation';
import * as v from 'valibot';
import { readSamples } from '../../events/samples.ts';
import { type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import { parsePayloadText } from '../../lambda/events/envelope.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import { decodeSignature } from '../../lambda/receiver/signature.ts';
import { dataSchema, objectSchema, payloadSchema } from '../api/event-schemas.ts';
import { SIGNATURE_PATTERN } from '../api/openapi.ts';

const openApi = JSON.parse(readFileSync('docs/api/openapi.json', 'utf8'));

test('openapi.json has every kind of problem in the receiver’s code', () => {
  const code = readFileSync('lambda/receiver/answers.ts', 'utf8');
  const types = [...code.matchAll(/type: '(urn:partner-webhooks:problem:[^']+)'/g)].map(([, type]) => type);
  const described = JSON.stringify(openApi.components.schemas);
  expect(types.length).toBeGreaterThan(0);
  expect(types.filter((type) => !described.includes(`"const":"${type}"`))).toEqual([]);
});

test('the separate schemas exist for each event, for notifications and for the archive, each valid by itself', () => {
  const names = [...eventNames.map(kebabCase), 'notification', 'archive-record'];
  const files = readdirSync('docs/api/schemas').sort();
  expect(files).toEqual(names.map((name) => `${name}.json`).sort());
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false });
  for (const file of files) {
    const schema = JSON.parse(readFileSync(`docs/api/schemas/${file}`, 'utf8'));
    expect(schema.$id).toMatch(/^urn:partner-webhooks:schema:[a-z_.-]+$/);
    const validate = ajv.compile(schema);
    const examples = [schema, ...(schema.oneOf ?? [])].flatMap((part) => part.examples ?? []);
    for (const example of examples) expect([schema.$id, validate(example)]).toEqual([schema.$id, true]);
  }
});

test('the pattern of a signature matches exactly the accepted spellings', () => {
  const pattern = new RegExp(SIGNATURE_PATTERN, 'u');
  const hex = 'aB'.repeat(32);
  const base64 = `${'A'.repeat(41)}+/`;
  const url = `${'A'.repeat(41)}-_`;
  const spellings = [hex, base64, `${base64}=`, url, `${url}=`].flatMap((one) => [one, `sha256=${one}`]);
  const wrong = [
    ...['', ' ', 'sha256=', 'sha1=', hex.slice(1), `${hex}0`, `${base64}==`, `${'A'.repeat(41)}+_`],
    ...spellings.flatMap((one) => [` ${one}`, `${one}\n`, `SHA256=${one}`, `${one},${one}`, `=${one}`]),
  ];
  for (const text of [...spellings, ...wrong]) {
    expect([text, pattern.test(text)]).toEqual([text, decodeSignature(text) !== undefined]);
  }
  expect(spellings.every((text) => pattern.test(text))).toBe(true);
});

test('the document that docs/subscribers.md shows is a published example', () => {
  const [, shown = ''] = /```json\n([^`]*)```/.exec(readFileSync('docs/subscribers.md', 'utf8')) ?? [];
  const { oneOf } = JSON.parse(readFileSync('docs/api/schemas/notification.json', 'utf8'));
  expect(oneOf.flatMap(({ examples }: { examples: object[] }) => examples)).toContainEqual(JSON.parse(shown));
});

describe('the answers of an HTTP API itself match their descriptions', () => {
  const request = {
    method: 'POST',
    path: WEBHOOK_PATH,
    query: '',
    httpVersion: '1.1',
    headers: [],
    sourceIp: '127.0.0.1',
    port: 443,
    receivedAt: new Date(),
  };
  type Invoke = () => Promise<InvocationResult>;
  const nothing: Invoke = async () => ({ ok: true, payload: undefined });
  const late: Invoke = () => new Promise(() => {});
  const failing = (error: Error): Invoke => {
    return async () => {
      throw error;
    };
  };

  test.each<[status: number, kept: boolean, what: string, invoke: Invoke, changes?: object]>([
    [404, false, 'another path', nothing, { path: '/' }],
    [413, false, 'a body above the limit of a gateway', nothing, { body: undefined }],
    [413, false, 'a body above the limit of Lambda', nothing, { body: Buffer.alloc(7_000_000) }],
    [429, false, 'too many requests', nothing, { rate: 0 }],
    [500, true, 'a failing receiver', failing(new Error('No such function'))],
    [503, true, 'a throttled receiver', failing(new TooManyRequestsError())],
    [503, true, 'a slow receiver', late],
  ])('%d, stored perhaps: %p, for %s', async (status, kept, _, invoke, changes = {}) => {
    const { path, body, rate } = { path: WEBHOOK_PATH, body: Buffer.from('{}'), rate: 100, ...changes };
    const api = httpApi({
      apiId: 'api',
      routes: [{ routeKey: `POST ${WEBHOOK_PATH}`, invoke }],
      throttle: { ThrottlingRateLimit: rate, ThrottlingBurstLimit: rate },
      integrationLimitMilliseconds: 100,
    });
    const { response } = await api.answer({ ...request, path }, async () => body);
    expect(response.status).toBe(status);
    const described = openApi.paths[WEBHOOK_PATH].post.responses[status];
    const { schema } = described.content[String(response.headers['content-type'])];
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(openApi, 'openapi');
    ajv.validate({ $ref: `openapi${schema.$ref}` }, JSON.parse(response.body.toString()));
    expect(ajv.errors).toBeNull();
    // A receiver that API Gateway has stopped waiting for still finishes its work.
    expect(described.description).toMatch(kept ? /may have been stored/ : /Nothing was stored/);
    expect(Object.keys(described.headers)).toContain('apigw-requestid');
    expect(response.headers).toHaveProperty('apigw-requestid');
  });
});

/**
 * A validator that ignores formats: in draft 2020-12, formats are annotations by default, so the pattern must be
 * enough.
 */
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false });

const validators = new Map(eventNames.map((event) => [event, ajv.compile(payloadSchema(event))]));

type Payload = Readonly<Record<string, unknown>>;

/**
 * Rules that only descriptions express, because schemas cannot: payloads that match the schema and are not
 * events.
 */
const beyondTheSchema: Readonly<Record<string, (payload: Payload, event: EventName) => boolean>> = {
  'an identifier with a lone surrogate': ({ data }, event) =>
    (dataSchema(event).required ?? []).some((field) => {
      const value = (data as Payload | undefined)?.[field];
      return typeof value === 'string' && !value.isWellFormed();
    }),
};

/** A payload without the optional values that the receiver ignores, such as a number of 2^53 or above. */
function withoutIgnored(payload: Payload, event: EventName): Payload {
  const { data } = payload;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return payload;
  const fields = dataSchema(event).properties;
  const isUsed = ([name, value]: [string, unknown]) =>
    fields[name]?.anyOf === undefined ||
    typeof value === 'string' ||
    (typeof value === 'number' && Math.abs(value) < 2 ** 53);
  return { ...payload, data: Object.fromEntries(Object.entries(data).filter(isUsed)) };
}

const awkwardValue = fc.oneof(
  fc.constantFrom<unknown>(
    ...['', ' ', '\ud800', 'a\udc00b', '😀', '0', '2^53', '\u0000'],
    ...[0, 0.5, 1e21, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), -1],
    ...[null, true, false, {}, [], ['a'], ['a', 1], ['\ud800'], [[]], { length: 1 }],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

const awkwardTime = fc.oneof(
  fc.constantFrom(
    ...['2026-02-30T00:00:00Z', '2026-01-31T24:00:00Z', '2016-12-31T23:59:60Z', '2026-01-31T09:00:00'],
    ...['0000-00-00T00:00:00Z', '2026-01-31T09:60:00Z', '2026-01-31T09:00:00,5+0000', '2026-01-31T09:00.5Z'],
    ...['2026-01-31T09:00:00.1234567890Z', '2026-01-31T09:00:00+00:00', '2026-01-31T09:00:00-00:00'],
    ...['2026-01-31t09:00:00z', '2026-01-31 09:00:00Z', '2026-01-31T09:00:00.Z', '2026-01-31T09:00Z'],
    ...['٢٠٢٦-01-31T09:00:00Z', '2026-01-31T09:00:00Z\n', '0000-01-01T00:00:00Z', '2026-13-01T00:00:00Z'],
  ),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);

const fieldsOf = (event: EventName) => Object.keys(dataSchema(event).properties);

/** Changes of a payload: a field of `data` or of the payload itself gets another value or is removed. */
const changes = (event: EventName) =>
  fc.array(
    fc.oneof(
      fc.record({
        field: fc.constantFrom(...fieldsOf(event), 'more'),
        inData: fc.constant(true),
        value: fc.option(awkwardValue, { nil: undefined }),
      }),
      fc.record({
        field: fc.constantFrom('event', 'data', 'timestamp', 'webhookId', 'more'),
        inData: fc.constant(false),
        value: fc.option(fc.oneof(awkwardValue, fc.constantFrom(...eventNames)), { nil: undefined }),
      }),
      fc.record({ field: fc.constant('timestamp'), inData: fc.constant(false), value: awkwardTime }),
    ),
    { minLength: 1, maxLength: 3 },
  );

test.each(eventNames)('the schema of %s is valid exactly where a payload is such an event', (event) => {
  const samples = readSamples().filter((sample) => sample.event === event);
  const seen = { valid: 0, invalid: 0 };
  fc.assert(
    fc.property(fc.constantFrom(...samples), changes(event), ({ payload }, changed) => {
      const data: Record<string, unknown> = { ...(payload.data as object) };
      const whole: Record<string, unknown> = { ...payload, data };
      for (const { field, inData, value } of changed) (inData ? data : whole)[field] = value;
      const text = JSON.stringify(whole);
      const parsed = parsePayloadText(text);
      const isEvent = parsed.kind === 'event' && parsed.event.event === event;
      const sent = JSON.parse(text) as Payload;
      const isValid = validators.get(event)?.(withoutIgnored(sent, event)) === true;
      const isBeyond = Object.values(beyondTheSchema).some((applies) => applies(sent, event));
      expect({ isEvent, text }).toEqual({ isEvent: isValid && !isBeyond, text });
      seen[isEvent ? 'valid' : 'invalid'] += 1;
    }),
    { numRuns: 400 },
  );
  // Both valid and invalid payloads must have been compared.
  expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(20);
});

test('generation names the event and the field if its schema cannot be described', () => {
  const custom = v.custom(() => true);
  for (const field of [custom, v.optional(custom)]) {
    expect(() => objectSchema({ door_id: field }, 'door.opened: data')).toThrow(
      'door.opened: data.door_id: The "custom" schema cannot be converted to JSON Schema',
    );
  }
});
