import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../support/any-character.ts';
import { eventually } from '../support/eventually.ts';
import { Partner } from '../support/partner.ts';
import { type SharedStack, sharedStack } from '../support/shared-stack.ts';
import { Tables } from '../support/tables.ts';

let stack: SharedStack;
let partner: Partner;
let tables: Tables;
beforeAll(async () => {
  stack = await sharedStack();
  partner = new Partner(stack.outputs.WebhookUrl);
  tables = new Tables(stack.operator);
});

const timestamp = '2026-01-31T09:00:00Z';

test('an event that is nested 400,000 deep has its effect', async () => {
  const depth = 400_000;
  const nest = '['.repeat(depth) + ']'.repeat(depth);
  const girlId = `deep-${depth}`;
  const body = `{"event":"girl.created","data":{"girl_id":"${girlId}","name":"Hana","x":${nest}},"timestamp":"${timestamp}"}`;
  expect((await partner.post(body)).status).toBe(200);
  expect(await eventually(() => tables.get(stack.outputs.CastTable, { girl_id: girlId }))).toMatchObject({
    status: 'active',
    name: 'Hana',
  });
});

test('a list with only wrong entries is unusable, however long it is', async () => {
  const list = `[${'1,'.repeat(1_000_000)}1]`;
  const answer = await partner.post(
    `{"event":"shop.updated","data":{"shop_id":"s","updated_fields":${list}},"timestamp":"${timestamp}"}`,
  );
  expect(answer.status).toBe(400);
  expect(answer.body.errors).toHaveLength(20);
});

test('`__proto__` in an event changes no other event', async () => {
  const polluting = `{"__proto__":{"name":"polluted"},"event":"girl.created","data":{"girl_id":"p-1","__proto__":{"name":"polluted"},"constructor":{"prototype":{"name":"polluted"}}},"timestamp":"${timestamp}"}`;
  expect((await partner.post(polluting)).status).toBe(200);
  expect((await partner.post({ event: 'girl.created', data: { girl_id: 'p-2' }, timestamp })).status).toBe(
    200,
  );
  for (const girl_id of ['p-1', 'p-2']) {
    const row = await eventually(() => tables.get(stack.outputs.CastTable, { girl_id }));
    expect(row).not.toHaveProperty('name');
  }
});

test.each([
  ['of control characters', '\u0000\u0007', '\u0000\u0007'],
  [
    'of 10,000 characters',
    'x'.repeat(10_000),
    `sha256:${createHash('sha256').update('x'.repeat(10_000)).digest('hex')}`,
  ],
])('a shop id %s is accepted and has its effect', async (_, shop_id, key) => {
  const answer = await partner.post({ event: 'shop.updated', data: { shop_id }, timestamp });
  expect(answer.body).toMatchObject({ status: 'queued' });
  await eventually(() => tables.get(stack.outputs.ShopCacheTable, { shop_id: key }));
});

// Takes 6 s: hundreds of deliveries.
test('every character that JSON allows reaches the consumer unchanged', async () => {
  const character = fc.oneof(
    anyCharacter,
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
  const names = fc.array(fc.string({ unit: character, minLength: 1, maxLength: 40 }), { minLength: 50 });
  let posted = 0;
  await fc.assert(
    fc.asyncProperty(names, async (given) => {
      const girls = given.map((name) => ({ girl_id: `character-${posted++}`, name }));
      const processed = girls.map(async (data) => {
        await partner.post({ event: 'girl.created', data, timestamp });
        const row = await eventually(() => tables.get(stack.outputs.CastTable, { girl_id: data.girl_id }));
        return { girl_id: data.girl_id, name: row.name };
      });
      expect(await Promise.all(processed)).toEqual(girls);
    }),
    { numRuns: 2 },
  );
});
