import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LocalStack } from '../../local/local-stack.ts';
import { eventually } from '../support/eventually.ts';
import { Partner } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { Tables } from '../support/tables.ts';
import { startTestStack } from '../support/test-stack.ts';

let stack: LocalStack;
let partner: Partner;
let queues: Queues;
let tables: Tables;
beforeAll(async () => {
  stack = await startTestStack();
  partner = new Partner(stack.outputs.WebhookUrl);
  queues = new Queues(stack.operator);
  tables = new Tables(stack.operator);
});
afterAll(() => stack.close());

const timestamp = '2026-01-31T09:00:00Z';
const MIB = 1024 * 1024;

describe('a body above SQS’ limit', () => {
  test.each([
    ['just above', MIB],
    ['of 4 MB', 4 * MIB],
  ])('%s is processed like a small one', async (_, size) => {
    const data = { girl_id: `girl-${size}`, name: 'Hana', notes: 'x'.repeat(size) };
    const answer = await partner.post({ event: 'girl.created', data, timestamp });
    expect(answer).toMatchObject({ status: 200, body: { status: 'queued' } });
    const row = await eventually(() => tables.get(stack.outputs.CastTable, { girl_id: data.girl_id }));
    expect(row).toMatchObject({ status: 'active', name: 'Hana' });
  });

  test('of an unknown kind is parked with the address of its payload', async () => {
    const body = JSON.stringify({
      event: 'example.unknown',
      data: { notes: 'x'.repeat(2 * MIB) },
      timestamp,
    });
    const eventId = createHash('sha256').update(body).digest('hex');
    expect(await partner.post(body)).toMatchObject({ status: 200, body: { status: 'parked', eventId } });
    const { Body, MessageAttributes } = await queues.take(stack.outputs.UnroutedQueueUrl);
    expect(JSON.parse(Body ?? '')).toEqual({ payloadKey: `unrouted/${eventId}` });
    expect(MessageAttributes?.payloadKey?.StringValue).toBe(`unrouted/${eventId}`);
  });

  test('that is unusable is in quarantine with the address of its bytes', async () => {
    const body = 'x'.repeat(2 * MIB);
    const eventId = createHash('sha256').update(body).digest('hex');
    expect((await partner.post(body)).status).toBe(400);
    const { Body } = await queues.take(stack.outputs.QuarantineQueueUrl);
    expect(JSON.parse(Body ?? '')).toMatchObject({
      payloadKey: `quarantine/${eventId}`,
      problems: [{ field: 'body' }],
    });
  });
});

test('every character that JSON allows reaches the consumer unchanged', async () => {
  const character = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(
      '\ufffe',
      '\uffff',
      '\u{1fffe}',
      '\u{10ffff}',
      '\u2028',
      '\u2029',
      '\u0000',
      '\u007f',
      '\ufeff',
      '"',
      '\\',
    ),
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: character, minLength: 1, maxLength: 40 }), async (name) => {
      run += 1;
      const data = { girl_id: `character-${run}`, name };
      expect((await partner.post({ event: 'girl.created', data, timestamp })).status).toBe(200);
      const row = await eventually(() => tables.get(stack.outputs.CastTable, { girl_id: data.girl_id }));
      expect(row.name).toBe(name);
    }),
    { numRuns: 100 },
  );
}, 60_000);
