import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readSamples } from '../../../events/samples.ts';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { parsePayload, parsePayloadText } from '../../../lambda/events/envelope.ts';
import { normaliseTimestamp } from '../../../lambda/events/timestamp.ts';
import { topLevelValue } from '../../../lambda/events/top-level-value.ts';

const timestamp = '2026-01-31T09:00:00Z';
const shopUpdated = { event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp };

const parse = (payload: unknown) => parsePayloadText(JSON.stringify(payload));

/** The fields that make a payload unusable, in order. */
function unusableFields(bytes: Uint8Array | string): string[] | string {
  const parsed = typeof bytes === 'string' ? parsePayloadText(bytes) : parsePayload(bytes);
  return parsed.kind === 'unusable' ? parsed.problems.map(({ field }) => field) : parsed.kind;
}

describe('a usable event', () => {
  test('has event, data and timestamp; the webhookId stays in the text', () => {
    expect(parse({ ...shopUpdated, webhookId: 'w-1' })).toEqual({
      kind: 'event',
      event: {
        event: 'shop.updated',
        data: { shop_id: 'shop-1' },
        sentShopId: 'shop-1',
        timestamp: '2026-01-31T09:00:00.000000000Z',
      },
      text: JSON.stringify({ ...shopUpdated, webhookId: 'w-1' }),
    });
  });

  test.each([
    { ...shopUpdated, webhookId: 7 },
    { ...shopUpdated, extra: 1, data: { shop_id: 'shop-1', extra: [] } },
    { ...shopUpdated, constructor: 1, data: { shop_id: 'shop-1', constructor: {} } },
    ...readSamples().map(({ payload }) => payload),
  ])('may be %j', (payload) => {
    expect(parse(payload).kind).toBe('event');
  });

  test('may have a key __proto__, and nothing inherits from it', () => {
    const parsed = parsePayloadText(
      `{"event":"shop.updated","data":{"shop_id":"s","__proto__":{"name":"x"}},"timestamp":"${timestamp}","__proto__":{"webhookId":"x"}}`,
    );
    expect(parsed).toMatchObject({ kind: 'event', event: { data: { shop_id: 's' } } });
    expect(parsed.kind === 'event' && (parsed.event.data as Record<string, unknown>).name).toBeUndefined();
    expect(({} as Record<string, unknown>).name).toBeUndefined();
  });

  test.each([
    ['text', 'shop-1', 'shop-1'],
    ['an object', {}, undefined],
  ])('has the shop id as sent if it is %s', (_, shop_id, sentShopId) => {
    const parsed = parse({ event: 'review.posted', data: { shop_id }, timestamp });
    expect(parsed).toMatchObject({ kind: 'event', event: { sentShopId } });
  });

  test('may begin with one byte order mark', () => {
    const text = JSON.stringify(shopUpdated);
    expect(parsePayload(Buffer.from(`\ufeff${text}`))).toMatchObject({ kind: 'event', text });
    expect(unusableFields(Buffer.from(`\ufeff\ufeff${text}`))).toEqual(['body']);
  });

  // V8 takes the second key for the first one (nodejs/node#63785).
  test('whose id has a key in escapes never gets another id', () => {
    const data = (key: string) => `{"event":"girl.created","data":{"${key}":"g"},"timestamp":"${timestamp}"}`;
    parsePayloadText(data('\\\\u0067i'));
    const parsed = parsePayloadText(data('\\u0067irl_id'));
    if (parsed.kind === 'unusable') expect(parsed.problems).toMatchObject([{ field: 'data.girl_id' }]);
    else expect(parsed).toMatchObject({ event: { data: { girl_id: 'g' } } });
  });
});

describe('an unusable payload', () => {
  test.each<[object, string[]]>([
    [{}, ['event', 'data', 'timestamp']],
    [{ ...shopUpdated, event: 1 }, ['event']],
    [{ event: ['shop.updated'], data: {}, timestamp }, ['event']],
    [{ ...shopUpdated, data: [] }, ['data']],
    [{ ...shopUpdated, timestamp: '2026-01-31T09:00:00+09:00' }, ['timestamp']],
    [
      { event: 'user.updated', data: { display_name: 1 } },
      ['timestamp', 'data.user_id', 'data.display_name'],
    ],
    [
      { ...shopUpdated, data: { shop_id: 's', updated_fields: ['name', 1, 'address', null] } },
      ['data.updated_fields.1', 'data.updated_fields.3'],
    ],
  ])('%j names each wrong field: %j', (payload, fields) => {
    expect(unusableFields(JSON.stringify(payload))).toEqual(fields);
  });

  test('never puts its values into the answer', () => {
    const data = { user_id: 12345678, display_name: ['Sora Aoi'] };
    const parsed = parse({ event: 'user.updated', data, timestamp: 'soon' });
    expect(JSON.stringify(parsed)).not.toMatch(/12345678|Sora|soon/);
  });

  test('says whether a field is missing or of the wrong type', () => {
    expect(parse({ ...shopUpdated, data: { name: 5 } })).toMatchObject({
      problems: [
        { field: 'data.shop_id', detail: 'is missing: expected a non-empty string' },
        { field: 'data.name', detail: 'must be a string' },
      ],
    });
  });

  test.each<[string, Uint8Array | string, string]>([
    ['is empty', '', 'must not be empty'],
    ['is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'must be UTF-8'],
    ['is not JSON', '{"event":', 'must be JSON'],
    ['is an array', '[]', 'must be a JSON object'],
  ])('that %s says so about the body', (_, bytes, detail) => {
    const parsed = typeof bytes === 'string' ? parsePayloadText(bytes) : parsePayload(bytes);
    expect(parsed).toEqual({ kind: 'unusable', problems: [{ field: 'body', detail }] });
  });

  const written = 'an existing date and time in UTC, written as 2026-01-31T09:00:00Z or 20260131T090000Z';
  test.each([
    ['31.1.2026', `must be ${written}`],
    ['2026-01-31T09:00:00', 'has no time zone: if it is in UTC, add Z'],
    [undefined, `is missing: expected ${written}`],
  ])('with the timestamp %s says how it should be written', (sent, detail) => {
    expect(parse({ ...shopUpdated, timestamp: sent })).toMatchObject({ problems: [{ detail }] });
  });

  test('names at most twenty problems of the envelope and a list together', () => {
    const updated_fields = Array.from({ length: 100_000 }, () => 1);
    const payload = { event: 'shop.updated', data: { shop_id: 's', updated_fields } };
    expect(unusableFields(JSON.stringify(payload))).toEqual([
      'timestamp',
      ...Array.from({ length: 19 }, (_, index) => `data.updated_fields.${index}`),
    ]);
  });
});

describe('an unknown event kind', () => {
  test.each(['example.unknown', 'Shop.Updated', 'constructor', '__proto__', 'toString'])(
    '%s is told from the known ones',
    (event) => {
      expect(parse({ event, data: {}, timestamp })).toMatchObject({ kind: 'unknown', event: { event } });
    },
  );

  test('in an unusable envelope is unusable', () => {
    expect(parse({ event: 'example.unknown', data: {} }).kind).toBe('unusable');
  });
});

describe('the data of each event', () => {
  const problems = (event: EventName, data: unknown) =>
    unusableFields(JSON.stringify({ event, data, timestamp }));

  test.each<[EventName, string, object]>([
    ['shop.updated', 'shop_id', { name: 'x', updated_fields: ['name'] }],
    ['user.updated', 'user_id', { shop_id: 's', display_name: 'x', profile_image_url: 'https://x.example' }],
    ['girl.created', 'girl_id', { shop_id: 's', name: 'x' }],
    ['girl.deleted', 'girl_id', { shop_id: 's' }],
  ])('%s needs only %s', (event, id, others) => {
    expect(problems(event, { [id]: 'x' })).toBe('event');
    expect(problems(event, others)).toEqual([`data.${id}`]);
    expect(problems(event, { ...others, [id]: '' })).toEqual([`data.${id}`]);
    expect(problems(event, { ...others, [id]: null })).toEqual([`data.${id}`]);
    expect(problems(event, { ...others, [id]: '\ud800' })).toEqual([`data.${id}`]);
  });

  test.each<[EventName]>([['girl.schedule_changed'], ['review.posted']])('%s needs an object', (event) => {
    expect(problems(event, {})).toBe('event');
    expect(problems(event, 'x')).toEqual(['data']);
  });

  // The contract shows these fields, so another type is a fault.
  test.each<[EventName, string, unknown]>([
    ['shop.updated', 'name', 1],
    ['shop.updated', 'updated_fields', 'name'],
    ['user.updated', 'display_name', null],
    ['user.updated', 'profile_image_url', {}],
  ])('%s is unusable if %s is %j', (event, field, value) => {
    const ids = { shop_id: 's', user_id: 'u' };
    expect(problems(event, { ...ids, [field]: value })).toEqual([`data.${field}`]);
  });

  test.each([
    ['a string', '07', '07'],
    ['the largest exact number', 2 ** 53 - 1, '9007199254740991'],
  ])('girl_id may be %s and is stored as a string', (_, sent, kept) => {
    expect(parse({ event: 'girl.created', data: { girl_id: sent }, timestamp })).toMatchObject({
      event: { data: { girl_id: kept } },
    });
  });

  test.each([2 ** 53, 1.5, 1e300, true])('girl_id may not be %s, which is not exact', (girl_id) => {
    expect(problems('girl.deleted', { girl_id })).toEqual(['data.girl_id']);
  });

  test('updated_fields are kept in their order', () => {
    const updated_fields = ['name', 'address', 'a\ud800'];
    expect(parse({ ...shopUpdated, data: { shop_id: 's', updated_fields } })).toMatchObject({
      event: { data: { updated_fields: ['name', 'address', 'a\ufffd'] } },
    });
  });

  test.each<[EventName, object, object]>([
    [
      'girl.schedule_changed',
      { shop_id: 1, girl_id: { x: 1 }, name: 'a\ud800' },
      { shop_id: '1', name: 'a\ufffd' },
    ],
    [
      'review.posted',
      { review_id: 'r', shop_id: 's', girl_id: 7, name: '', rating: 4.5, comment: 'Nice', other: 1 },
      { review_id: 'r', shop_id: 's', girl_id: '7', rating: '4.5', comment: 'Nice' },
    ],
  ])('%s has every assumed field as text, without empty ones and other types', (event, sent, data) => {
    const parsed = parse({ event, data: sent, timestamp });
    expect(parsed.kind === 'event' && parsed.event.data).toEqual(data);
  });

  test.each(['9007199254740992', '1e300'])(
    'the assumed field %s is ignored, because another number would have the same text',
    (shop_id) => {
      const text = `{"event":"review.posted","data":{"shop_id":${shop_id},"rating":4.5},"timestamp":"${timestamp}"}`;
      const parsed = parsePayloadText(text);
      expect(parsed.kind === 'event' && parsed.event.data).toEqual({ rating: '4.5' });
    },
  );
});

test('parsing never throws, for any bytes and for any data of an event', () => {
  const bytes = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .tuple(fc.constantFrom(...eventNames), fc.jsonValue())
      .map(([event, data]) => Buffer.from(JSON.stringify({ event, data, timestamp }))),
  );
  fc.assert(
    fc.property(bytes, (any) => {
      expect(['event', 'unknown', 'unusable']).toContain(parsePayload(any).kind);
    }),
  );
});

describe('a timestamp', () => {
  test.each([
    ...['2026-01-31T09:00:00Z', '2026-01-31T09:00:00+00:00', '2026-01-31T09:00:00+0000'],
    ...['2026-01-31T09:00:00-00:00', '2026-01-31t09:00:00z', '2026-01-31 09:00:00+00:00'],
    ...['2026-01-31T09:00Z', '2026-01-31T09:00+00:00', '20260131T0900Z', '2026-01-31T09Z', '20260131T09+00'],
  ])('%s is nine o’clock', (text) => {
    expect(normaliseTimestamp(text)).toBe('2026-01-31T09:00:00.000000000Z');
  });

  test.each([
    ['2026-01-31T09:00:00.5Z', '2026-01-31T09:00:00.500000000Z'],
    ['2026-01-31T09:00:00.5+00', '2026-01-31T09:00:00.500000000Z'],
    ['2026-01-31T09:00:00.1234567891Z', '2026-01-31T09:00:00.123456789Z'],
    ['20240229T235959,5+0000', '2024-02-29T23:59:59.500000000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000000000Z'],
  ])('%s is %s', (text, normalised) => {
    expect(normaliseTimestamp(text)).toBe(normalised);
  });

  test.each([
    ['empty', ''],
    ['a date alone', '2026-01-31'],
    ['no zone', '2026-01-31T09:00:00'],
    ['another zone', '2026-01-31T09:00:00+09:00'],
    ['an offset of minutes', '2026-01-31T09:00:00+00:30'],
    ['an empty fraction', '2026-01-31T09:00:00.Z'],
    ['hour 24', '2026-01-31T24:00:00Z'],
    ['a leap second', '2016-12-31T23:59:60Z'],
    ['seconds since the epoch', '1769850000'],
    ['something before it', 'at 2026-01-31T09:00:00Z'],
    ['something behind it', '2026-01-31T09:00:00Z!'],
  ])('%s is not a valid UTC time', (_, text) => {
    expect(normaliseTimestamp(text)).toBeUndefined();
  });

  test('a day is valid exactly if the calendar has it', () => {
    const digits = (value: number, length: number) => String(value).padStart(length, '0');
    const year = fc.integer({ min: 0, max: 9999 });
    const leapDays = fc.record({ year, month: fc.constant(2), day: fc.constant(29) });
    const days = fc.record({
      year,
      month: fc.integer({ min: 0, max: 13 }),
      day: fc.integer({ min: 0, max: 32 }),
    });
    fc.assert(
      fc.property(fc.oneof(leapDays, days), ({ year, month, day }) => {
        const date = new Date(0);
        date.setUTCFullYear(year, month - 1, day);
        const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
        const texts = ['-', ''].map(
          (hyphen) => `${[digits(year, 4), digits(month, 2), digits(day, 2)].join(hyphen)}T00Z`,
        );
        for (const text of texts)
          expect([text, normaliseTimestamp(text) !== undefined]).toEqual([text, isReal]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the value of a top-level key', () => {
  // The table's oracle is the text itself: the value is what stands between the colon and the next comma or brace.
  test.each([
    [
      'numbers as sent',
      '{"data":{"fee":1.10,"pi":3.14159265358979323846}}',
      '{"fee":1.10,"pi":3.14159265358979323846}',
    ],
    ['white space inside', '{ "data" :\n{ "a" : 1 }\t, "b":2}', '{ "a" : 1 }'],
    ['escapes as sent', '{"data":{"\\u540d":"\\u0041\\/"}}', '{"\\u540d":"\\u0041\\/"}'],
    ['nothing', '{"a":"data","dat":1,"data ":2,"\\\\u0064ata":3}', undefined],
  ])('the value of a top-level key has %s', (_, json, value) => {
    expect(topLevelValue(json, 'data')).toBe(value);
  });

  const characters = fc.string({ unit: fc.constantFrom(...'dat"\\/{}[],: \n\u540d😀u0') });

  /** A text as JSON strings, with some of its characters as escapes. */
  const written = (texts: fc.Arbitrary<string>) =>
    fc.tuple(texts, fc.infiniteStream(fc.boolean())).map(([text, isEscaped]) => {
      const units = text.split('').map((unit) => {
        const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
        return isEscaped.next().value ? escaped : JSON.stringify(unit).slice(1, -1);
      });
      return `"${units.join('')}"`;
    });

  /** Other keys have no backslash and are longer: V8 takes an escaped key for an earlier one that begins with a backslash. */
  const jsonKey = written(
    fc.oneof(
      fc.constant('data'),
      characters.map((text) => `data.${text.replaceAll('\\', '')}`),
    ),
  );
  const space = fc.constantFrom('', ' ', '\r\n\t');
  const { object } = fc.letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('1.10', '1e400', 'null', 'true', '-0'),
      written(characters),
      tie('object'),
      fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values.join(',')}]`),
    ),
    object: fc
      .array(fc.tuple(jsonKey, space, tie('value'), space), { maxLength: 5 })
      .map(
        (members) => `{${members.map(([key, s, value, t]) => `${s}${key}${t}:${s}${value}${t}`).join(',')} }`,
      ),
  }));

  test('the value is the one that JSON.parse finds', () => {
    fc.assert(
      fc.property(object, (json) => {
        const value = topLevelValue(json, 'data');
        expect(value === undefined ? undefined : JSON.parse(value)).toEqual(
          Object.getOwnPropertyDescriptor(JSON.parse(json), 'data')?.value,
        );
      }),
      { numRuns: 2000 },
    );
  });
});
