import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import fc from 'fast-check';
import { readRequest } from '../../../lambda/receiver/request.ts';

const RECEIVED_AT = Date.parse('2026-01-31T09:00:00Z');

/** Payload format 2.0, only the fields that are read. */
const format2 = (fields: Partial<APIGatewayProxyEventV2>) =>
  ({
    version: '2.0',
    headers: {},
    isBase64Encoded: false,
    requestContext: { requestId: 'id', timeEpoch: RECEIVED_AT, http: { sourceIp: '203.0.113.1' } },
    ...fields,
  }) as APIGatewayProxyEventV2;

/** Payload format 1.0, only the fields that are read. */
const format1 = (fields: Partial<APIGatewayProxyEvent>) =>
  ({
    headers: {},
    multiValueHeaders: {},
    body: null,
    isBase64Encoded: false,
    requestContext: {
      requestId: 'chosen-by-the-client',
      extendedRequestId: 'id',
      requestTimeEpoch: RECEIVED_AT,
      identity: { sourceIp: '203.0.113.1' },
    },
    ...fields,
  }) as APIGatewayProxyEvent;

describe.each([
  ['2.0', format2],
  ['1.0', format1],
])('of payload format %s', (_, event) => {
  const read = (fields: { body?: string; isBase64Encoded?: boolean }) => readRequest(event(fields));

  test('a body in base64 is decoded to the bytes that were sent, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const body = Buffer.from(bytes).toString('base64');
        expect(read({ body, isBase64Encoded: true }).body).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test('a body in text is read as UTF-8, also if it looks like base64', () => {
    expect(read({ body: 'e30=' }).body).toEqual(Buffer.from('e30='));
    expect(read({ body: '{"name":"日本😀"}' }).body).toEqual(Buffer.from('{"name":"日本😀"}'));
  });

  test('request id, time of receipt and address are API Gateway’s; without body and signature they are empty', () => {
    expect(read({})).toEqual({
      ...{ requestId: 'id', receivedAt: RECEIVED_AT, sourceIp: '203.0.113.1' },
      ...{ body: Buffer.alloc(0), signature: undefined },
    });
  });
});

describe('the signature', () => {
  test('of format 2.0 is the header in lower case', () => {
    expect(readRequest(format2({ headers: { 'x-webhook-signature': 'abc' } })).signature).toBe('abc');
  });

  test.each(['X-Webhook-Signature', 'x-webhook-signature', 'X-WEBHOOK-SIGNATURE'])(
    'of format 1.0 is found as the sender wrote it: %s',
    (name) => {
      expect(readRequest(format1({ multiValueHeaders: { [name]: ['abc'] } })).signature).toBe('abc');
    },
  );

  test.each([
    [{ 'X-Webhook-Signature': ['abc', 'def'] }],
    [{ 'X-Webhook-Signature': ['abc'], 'x-webhook-signature': ['def'] }],
  ])('of format 1.0 is not one of several values: %j', (multiValueHeaders) => {
    expect(readRequest(format1({ multiValueHeaders })).signature).toBe('abc,def');
  });
});
