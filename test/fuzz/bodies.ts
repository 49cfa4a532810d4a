import fc from 'fast-check';
import type { EventName } from '../../lambda/events/catalogue.ts';

/** Stands in every value that a generated event carries: in an answer or a log line it would be a leak. */
export const PERSONAL = 'personal-';

const LONE_SURROGATES = ['\ud800', '\udfff'];
const unit = fc.oneof(
  { weight: 20, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
  { weight: 5, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.constantFrom('\0', '\ufffe', '\uffff', '\ufeff', '\u2028', ...LONE_SURROGATES) },
);
const personal = fc.string({ unit, maxLength: 12 }).map((text) => PERSONAL + text);
const id = fc.oneof({ weight: 20, arbitrary: personal }, { weight: 1, arbitrary: fc.constant('') });
const idOfEitherType = fc.oneof(id, fc.maxSafeInteger(), fc.double({ noNaN: true }));
const textOrNumber = fc.oneof(personal, fc.integer());

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });
const data: Partial<Record<EventName, fc.Arbitrary<object>>> = {
  'shop.updated': fc.record({
    shop_id: id,
    name: optional(personal),
    updated_fields: optional(fc.array(personal, { maxLength: 4 })),
  }),
  'girl.schedule_changed': fc.record({
    shop_id: optional(textOrNumber),
    girl_id: optional(textOrNumber),
    name: optional(personal),
  }),
  'girl.created': fc.record({ girl_id: idOfEitherType, shop_id: optional(id), name: optional(personal) }),
  'girl.deleted': fc.record({ girl_id: idOfEitherType, shop_id: optional(id) }),
  'review.posted': fc.record({
    review_id: optional(textOrNumber),
    shop_id: optional(id),
    rating: optional(textOrNumber),
    comment: optional(personal),
  }),
  'user.updated': fc.record({
    user_id: id,
    shop_id: optional(id),
    display_name: optional(personal),
    profile_image_url: optional(personal.map((path) => `https://x.example/${path}`)),
  }),
};

/** The events that are generated: those of the contract, whose `data` `expectation.ts` judges a second time. */
export const modelledEvents = Object.keys(data);

const ODD_TIMESTAMPS = [
  '2026-02-30T00:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-06-30T23:59:60Z',
  '2026-01-31T09:00:00z',
  '2026-01-31T09:00:00+09:00',
  '2026-01-31T09:00:00-00:00',
  '2026-01-31 09:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.9999999999999Z',
  '2026-01-31T09:00:00Z\n',
  '',
];
const timestamp = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .tuple(
        fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
        fc.constantFrom('', '.5', '.123456789', '.1234567891234'),
        fc.constantFrom('Z', '+00:00'),
      )
      .map(([date, fraction, zone]) => date.toISOString().slice(0, 19) + fraction + zone),
  },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_TIMESTAMPS) },
);

const extra = optional(fc.dictionary(personal, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }));
const payloadOf = (event: string, eventData: fc.Arbitrary<object>) =>
  fc
    .record({ data: eventData, timestamp, webhookId: optional(fc.oneof(personal, fc.integer())), extra })
    .map(({ data: known, extra: more, ...rest }) => ({
      event,
      ...rest,
      data: { ...more, ...known },
      ...more,
    }));

/** An event as the partner may send it; now and then one whose timestamp or id is no good. */
export const payload: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  ...Object.entries(data).map(([event, eventData]) => ({
    weight: 4,
    arbitrary: payloadOf(event, eventData),
  })),
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.oneof(personal, fc.constantFrom('constructor', '__proto__', 'Shop.Updated', 'shop.updated ')),
        payloadOf('', fc.object({ maxDepth: 1 })),
      )
      .map(([event, rest]) => ({ ...rest, event })),
  },
);

/** A JSON value that is at hand where a type is to be wrong. */
const oddValue = fc.oneof(
  fc.constantFrom(null, true, 0, -0, 1e300, '', [], {}, ['x'], { toString: 'x' }),
  fc.jsonValue({ maxDepth: 2 }),
);

type Place = { holder: Record<string, unknown> | unknown[]; key: string };

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])]);
}

interface JsonEdit {
  readonly at: number;
  readonly how: 'delete' | 'replace' | 'rename' | 'wrap';
  readonly value: unknown;
}

function editJson(value: Record<string, unknown>, edits: readonly JsonEdit[]): unknown {
  const root = structuredClone({ value });
  for (const { at, how, value: odd } of edits) {
    const places = placesIn(root);
    const place = places[at % places.length];
    if (place === undefined) continue;
    const holder = place.holder as Record<string, unknown>;
    const { key } = place;
    if (how === 'replace') holder[key] = structuredClone(odd);
    if (how === 'wrap') holder[key] = [holder[key]];
    if (how === 'rename') holder[`${key} `] = holder[key];
    if (how === 'rename' || how === 'delete') delete holder[key];
  }
  return root.value;
}

const jsonEdits = fc.array(
  fc.record({
    at: fc.nat(1000),
    how: fc.constantFrom('delete', 'replace', 'rename', 'wrap'),
    value: oddValue,
  }) satisfies fc.Arbitrary<JsonEdit>,
  { minLength: 1, maxLength: 3 },
);

/** What `JSON.stringify` never writes: members that stand twice, and keys that reach a prototype elsewhere. */
const PRELUDES = [
  '"__proto__":{"event":"shop.updated","data":{},"timestamp":"2026-01-31T09:00:00Z","shop_id":"personal-p"},',
  '"__proto__":null,',
  '"constructor":{"prototype":{"polluted":true}},',
  '"event":"user.updated",',
  '"data":{"shop_id":"personal-twice"},',
  '"timestamp":1,',
  '"toJSON":"x",',
];

const splice = (text: string, at: number, insert: string, remove = 0) =>
  text.slice(0, at) + insert + text.slice(at + remove);

/** Members put first or last into an object of the JSON text. */
function addMembers(
  text: string,
  preludes: readonly { at: number; member: string; last: boolean }[],
): string {
  return preludes.reduce((json, { at, member, last }) => {
    const braces = [...json.matchAll(last ? /}/g : /{/g)].map(({ index }) => index);
    const brace = braces[at % braces.length];
    if (brace === undefined) return json;
    return last
      ? splice(json, brace, `,${member.slice(0, -1)}`)
      : splice(json, brace + 1, json[brace + 1] === '}' ? member.slice(0, -1) : member);
  }, text);
}

const ODD_CHARACTERS = [
  ...['\0', '\u001f', '\u007f', '\ufffe', '\uffff', '\ufeff', '\u2028', '\u00a0', ...LONE_SURROGATES],
  ...[
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
    '\n',
    '0',
    '-',
    'e9',
    '\\u0000',
    '\\ud800',
    '\\ufffe',
    '//',
  ],
];
const characterEdits = fc.array(
  fc.record({ at: fc.nat(), insert: fc.constantFrom(...ODD_CHARACTERS), remove: fc.nat(2) }),
  { minLength: 1, maxLength: 3 },
);

const byteEdits = fc.array(
  fc.record({
    at: fc.nat(),
    how: fc.constantFrom('flip', 'insert', 'delete', 'truncate', 'repeat'),
    byte: fc.integer({ min: 0, max: 255 }),
  }),
  { minLength: 1, maxLength: 3 },
);

function editBytes(bytes: Buffer, { at, how, byte }: { at: number; how: string; byte: number }): Buffer {
  const index = at % (bytes.length + 1);
  const before = bytes.subarray(0, index);
  const after = bytes.subarray(index);
  switch (how) {
    case 'flip':
      return Buffer.concat([
        before,
        after.subarray(0, 1).map((old) => old ^ (1 << (byte % 8))),
        after.subarray(1),
      ]);
    case 'insert':
      return Buffer.concat([before, Buffer.of(byte), after]);
    case 'delete':
      return Buffer.concat([before, after.subarray(1)]);
    case 'truncate':
      return before;
    default:
      return Buffer.concat([before, before, after]);
  }
}

/** Deeper than any recursion survives; V8's JSON parser does not recurse. */
const DEPTHS = [2, 30, 500, 3000, 8000];
const nested = (depths: readonly number[]) =>
  fc
    .record({
      depth: fc.constantFrom(...depths),
      open: fc.constantFrom('[', '{"a":'),
      closed: fc.boolean(),
      where: fc.constantFrom('body', 'data', 'data.extra', 'event'),
    })
    .map(({ depth, open, closed, where }) => {
      const core = open.repeat(depth) + (open === '[' ? '' : '0');
      const nest = closed ? core + (open === '[' ? ']' : '}').repeat(depth) : core;
      const event = where === 'event' ? nest : '"girl.created"';
      const eventData = where === 'data' ? nest : `{"girl_id":"personal-deep","extra":${nest}}`;
      return where === 'body'
        ? nest
        : `{"event":${event},"timestamp":"2026-01-31T09:00:00Z","data":${eventData}}`;
    });

/** On either side of what a message holds: larger ones are kept in S3. */
const large = fc
  .record({
    size: fc.constantFrom(200_000, 990_000, 1_020_000, 1_500_000),
    fill: fc.constantFrom('x', '日', '\ufffe', '\\u0000'),
    event: fc.constantFrom('shop.updated', 'example.unknown', 'unusable'),
  })
  .map(({ size, fill, event }) => {
    const text = fill.repeat(size / Buffer.byteLength(fill));
    if (event === 'unusable') return `{"event":"${text}`;
    return `{"event":"${event}","timestamp":"2026-01-31T09:00:00Z","data":{"shop_id":"personal-s","x":"${text}"}}`;
  });

/** Lists that are long, and wrong from end to end. */
const longLists = fc
  .record({
    length: fc.constantFrom(21, 1_000, 300_000, 1_000_000),
    entry: fc.constantFrom('1', 'null', '{}', '""'),
    field: fc.constantFrom('updated_fields', 'shop_id', 'name', 'x'),
  })
  .map(({ length, entry, field }) => {
    const list = `[${`${entry},`.repeat(length)}${entry}]`;
    return `{"event":"shop.updated","timestamp":"2026-01-31T09:00:00Z","data":{"shop_id":"personal-s","${field}":${list}}}`;
  });

const json = payload.map((value) => JSON.stringify(value));
const asText = (texts: fc.Arbitrary<string>) => texts.map((text) => Buffer.from(text));

/** The text of a payload: a valid event, one that was tampered with, or none at all. */
export const bodyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 500, arbitrary: json },
  {
    weight: 200,
    arbitrary: fc
      .tuple(payload, jsonEdits)
      .map(([value, edits]) => JSON.stringify(editJson(value, edits)) ?? ''),
  },
  {
    weight: 100,
    arbitrary: fc
      .tuple(
        json,
        fc.array(fc.record({ at: fc.nat(9), member: fc.constantFrom(...PRELUDES), last: fc.boolean() }), {
          minLength: 1,
          maxLength: 2,
        }),
      )
      .map(([text, preludes]) => addMembers(text, preludes)),
  },
  {
    weight: 150,
    arbitrary: fc
      .tuple(json, characterEdits)
      .map(([text, edits]) =>
        edits.reduce(
          (old, { at, insert, remove }) => splice(old, at % (old.length + 1), insert, remove),
          text,
        ),
      ),
  },
  { weight: 80, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 40, arbitrary: fc.string({ unit, maxLength: 40 }) },
  {
    weight: 20,
    arbitrary: fc.constantFrom('', ' ', 'null', '[]', '{}', '""', '0', '\ufeff{}', '\ufeff\ufeff{}'),
  },
  { weight: 20, arbitrary: nested(DEPTHS) },
);

/** The bytes of a request. */
export const bodyBytes: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 800, arbitrary: asText(bodyText) },
  {
    weight: 150,
    arbitrary: fc.tuple(json, byteEdits).map(([text, edits]) => edits.reduce(editBytes, Buffer.from(text))),
  },
  { weight: 50, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: asText(nested([100_000, 400_000])) },
  { weight: 1, arbitrary: asText(large) },
  { weight: 1, arbitrary: asText(longLists) },
);
