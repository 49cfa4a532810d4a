import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { TEST_SECRET } from '../../../test/support/partner.ts';

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });

/** Chooses between arbitraries of fast-check by their weights. */
const weighted = <T>(...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  weighted<T | undefined>([8, fc.constant(undefined)], [1, arbitrary]);

const LONE_SURROGATES = ['\ud800', '\udfff'];
const unit = weighted(
  [20, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 })],
  [5, anyCharacter],
  [1, fc.constantFrom('\0', '\ufffe', '\uffff', '\ufeff', '\u2028', ...LONE_SURROGATES)],
);
const personal = fc.string({ unit, maxLength: 12 }).map((text) => `personal-${text}`);
const id = weighted([20, personal], [1, fc.constant('')]);
const idOfEitherType = fc.oneof(id, fc.maxSafeInteger(), fc.double({ noNaN: true }));
const textOrNumber = fc.oneof(personal, fc.integer());

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

/** Events that are generated: those of the contract, because `expectation.ts` checks only their `data`. */
export const modelledEvents = Object.keys(data);

const ODD_TIMESTAMPS = [
  '2026-02-30T00:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-06-30T23:59:60Z',
  '2026-01-31T09:00:00z',
  '2026-01-31T09:00Z',
  '2026-01-31T09:00,5Z',
  '2026-01-31T09Z',
  '2026-01-31T09:00:00+09:00',
  '2026-01-31T09:00:00-000',
  '2026-01-31 09:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.9999999999999Z',
  '2026-01-31T09:00:00Z\n',
  '',
];
const moment = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true });
const fraction = fc.constantFrom('', '.5', ',5', '.123456789', '.1234567891234');
const timestamp = weighted(
  [
    30,
    fc
      .tuple(moment, fraction, fc.constantFrom('Z', '+00:00', '+0000', '+00', '-00:00'))
      .map(([date, digits, zone]) => date.toISOString().slice(0, 19) + digits + zone),
  ],
  [1, fc.constantFrom(...ODD_TIMESTAMPS)],
);

const extra = optional(fc.dictionary(personal, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }));
const payloadOf = (eventName: fc.Arbitrary<string>, eventData: fc.Arbitrary<object>) =>
  fc
    .record({
      event: eventName,
      data: eventData,
      timestamp,
      webhookId: optional(fc.oneof(personal, fc.integer())),
      extra,
    })
    .map(({ data: known, extra: more, ...rest }) => ({ ...rest, data: { ...more, ...known }, ...more }));

/** An event as the partner may send it. Sometimes its timestamp or id is invalid. */
const payload: fc.Arbitrary<Record<string, unknown>> = weighted(
  ...Object.entries(data).map(([event, eventData]) => [4, payloadOf(fc.constant(event), eventData)] as const),
  [
    1,
    payloadOf(
      fc.oneof(personal, fc.constantFrom('constructor', '__proto__', 'Shop.Updated', 'shop.updated ')),
      fc.object({ maxDepth: 1 }),
    ),
  ],
);

const oddValue = fc.oneof(
  fc.constantFrom(null, true, 0, -0, 1e300, '', [], {}, ['x'], { toString: 'x' }),
  fc.jsonValue({ maxDepth: 2 }),
);

type JsonPlace = { holder: Record<string, unknown>; key: string };

function placesIn(value: unknown): JsonPlace[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])]);
}

const JSON_EDITS = {
  delete: ({ holder, key }: JsonPlace) => delete holder[key],
  replace: ({ holder, key }: JsonPlace, odd: unknown) => {
    holder[key] = structuredClone(odd);
  },
  rename: ({ holder, key }: JsonPlace) => {
    holder[`${key} `] = holder[key];
    delete holder[key];
  },
  wrap: ({ holder, key }: JsonPlace) => {
    holder[key] = [holder[key]];
  },
};
const jsonEdits = fc.array(
  fc.record({ at: fc.nat(1000), edit: fc.constantFrom(...Object.values(JSON_EDITS)), odd: oddValue }),
  { minLength: 1, maxLength: 3 },
);
const editedJson = fc.tuple(payload, jsonEdits).map(([value, edits]) => {
  const root = structuredClone({ value });
  for (const { at, edit, odd } of edits) {
    const places = placesIn(root);
    const place = places[at % places.length];
    if (place !== undefined) edit(place, odd);
  }
  return JSON.stringify(root.value) ?? '';
});

/**
 * Members that `JSON.stringify` never writes: duplicate keys, and keys that some code would take for a
 * prototype.
 */
const MEMBERS = [
  '"__proto__":{"event":"shop.updated","data":{},"timestamp":"2026-01-31T09:00:00Z","shop_id":"personal-p"}',
  '"__proto__":null',
  '"constructor":{"prototype":{"polluted":true}}',
  '"event":"user.updated"',
  '"data":{"shop_id":"personal-twice"}',
  '"timestamp":1',
  '"toJSON":"x"',
];

const splice = (text: string, at: number, insert: string, remove = 0) =>
  text.slice(0, at) + insert + text.slice(at + remove);

const json = payload.map((value) => JSON.stringify(value));

/** Adds members at the beginning or the end of an object in JSON text. */
const jsonWithMembers = fc
  .tuple(
    json,
    fc.array(fc.record({ at: fc.nat(9), member: fc.constantFrom(...MEMBERS), last: fc.boolean() }), {
      minLength: 1,
      maxLength: 2,
    }),
  )
  .map(([text, members]) =>
    members.reduce((whole, { at, member, last }) => {
      const braces = [...whole.matchAll(last ? /}/g : /{/g)].map(({ index }) => index);
      const brace = braces[at % braces.length];
      if (brace === undefined) return whole;
      if (last) return splice(whole, brace, `,${member}`);
      return splice(whole, brace + 1, whole[brace + 1] === '}' ? member : `${member},`);
    }, text),
  );

const ODD_CHARACTERS = [
  ...['\0', '\u001f', '\u007f', '\ufffe', '\uffff', '\ufeff', '\u2028', '\u00a0', ...LONE_SURROGATES],
  ...'"\\{}[],: \n0-',
  ...['e9', '\\u0000', '\\ud800', '\\ufffe', '//'],
];
const characterEdits = fc.array(
  fc.record({ at: fc.nat(), insert: fc.constantFrom(...ODD_CHARACTERS), remove: fc.nat(2) }),
  { minLength: 1, maxLength: 3 },
);
const editedText = fc
  .tuple(json, characterEdits)
  .map(([text, edits]) =>
    edits.reduce((old, { at, insert, remove }) => splice(old, at % (old.length + 1), insert, remove), text),
  );

const BYTE_EDITS = {
  flip: (before: Buffer, after: Buffer, byte: number) => [
    before,
    after.subarray(0, 1).map((old) => old ^ (1 << (byte % 8))),
    after.subarray(1),
  ],
  insert: (before: Buffer, after: Buffer, byte: number) => [before, Buffer.of(byte), after],
  delete: (before: Buffer, after: Buffer) => [before, after.subarray(1)],
  truncate: (before: Buffer) => [before],
  repeat: (before: Buffer, after: Buffer) => [before, before, after],
};
const byteEdits = fc.array(
  fc.record({
    at: fc.nat(),
    edit: fc.constantFrom(...Object.values(BYTE_EDITS)),
    byte: fc.integer({ min: 0, max: 255 }),
  }),
  { minLength: 1, maxLength: 3 },
);
const editedBytes = fc.tuple(json, byteEdits).map(([text, edits]) =>
  edits.reduce((bytes, { at, edit, byte }) => {
    const index = at % (bytes.length + 1);
    return Buffer.concat(edit(bytes.subarray(0, index), bytes.subarray(index), byte));
  }, Buffer.from(text)),
);

/** An event that is valid except for its data. */
const eventText = (eventData: string, event = '"girl.created"') =>
  `{"event":${event},"timestamp":"2026-01-31T09:00:00Z","data":${eventData}}`;

/** JSON that is too deep for any recursion. V8's parser does not recurse. */
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
      if (where === 'body') return nest;
      if (where === 'data') return eventText(nest);
      const eventData = `{"girl_id":"personal-deep","extra":${where === 'event' ? 0 : nest}}`;
      return eventText(eventData, where === 'event' ? nest : undefined);
    });

/** Payloads with a size near the limit of a message. Larger ones are stored in S3. */
const large = fc
  .record({
    size: fc.constantFrom(200_000, 990_000, 1_020_000, 1_500_000),
    fill: fc.constantFrom('x', '日', '\ufffe', '\\u0000'),
    event: fc.constantFrom('"shop.updated"', '"example.unknown"', 'unusable'),
  })
  .map(({ size, fill, event }) =>
    eventText(`{"shop_id":"personal-s","x":"${fill.repeat(size / Buffer.byteLength(fill))}"}`, event),
  );

/** Long lists that are wrong from beginning to end. */
const longLists = fc
  .record({
    length: fc.constantFrom(21, 1_000, 300_000, 1_000_000),
    entry: fc.constantFrom('1', 'null', '{}', '""'),
    field: fc.constantFrom('updated_fields', 'shop_id', 'name', 'x'),
  })
  .map(({ length, entry, field }) =>
    eventText(
      `{"shop_id":"personal-s","${field}":[${`${entry},`.repeat(length)}${entry}]}`,
      '"shop.updated"',
    ),
  );

const asBytes = (texts: fc.Arbitrary<string>) => texts.map((text) => Buffer.from(text));

/** The text of a payload: a valid event, a modified one, or not an event. */
export const bodyText: fc.Arbitrary<string> = weighted(
  [500, json],
  [200, editedJson],
  [100, jsonWithMembers],
  [150, editedText],
  [80, fc.json({ maxDepth: 4 })],
  [40, fc.string({ unit, maxLength: 40 })],
  [20, fc.constantFrom('', ' ', 'null', '[]', '{}', '""', '0', '\ufeff{}', '\ufeff\ufeff{}')],
  [20, nested([2, 30, 500, 3000, 8000])],
);

const bodyBytes: fc.Arbitrary<Buffer> = weighted(
  [800, asBytes(bodyText)],
  [150, editedBytes],
  [50, fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))],
  [1, asBytes(nested([100_000, 400_000]))],
  [1, asBytes(large)],
  [1, asBytes(longLists)],
);

/** What varies between API Gateway events, in a form that JSON can store. */
export interface FuzzRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** A header that is sent twice. @default none */
  readonly repeated?: readonly [name: string, value: string];
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

type Carried = Pick<FuzzRequest, 'body' | 'isBase64Encoded'>;

const HEADER = 'x-webhook-signature';

/** All headers of a request in the order of sending. */
export function headersOf({ headers, repeated }: Pick<FuzzRequest, 'headers' | 'repeated'>) {
  return [...Object.entries(headers), ...(repeated === undefined ? [] : [repeated])];
}

/** Ways to transport the bytes of a body, right and wrong ones. */
const TRANSPORTS = {
  text: (bytes: Buffer) => ({ body: bytes.toString(), isBase64Encoded: false }),
  base64: (bytes: Buffer) => ({ body: bytes.toString('base64'), isBase64Encoded: true }),
  base64url: (bytes: Buffer) => ({ body: bytes.toString('base64url'), isBase64Encoded: true }),
  flagMissing: (bytes: Buffer) => ({ body: bytes.toString('base64'), isBase64Encoded: false }),
  flagTooMuch: (bytes: Buffer) => ({ body: bytes.toString(), isBase64Encoded: true }),
  brokenBase64: (bytes: Buffer, noise: number) => {
    const base64 = bytes.toString('base64');
    const broken = splice(base64, noise % (base64.length + 1), '=\n-*\0é'[noise % 6] ?? '');
    return { body: broken, isBase64Encoded: true };
  },
  noBody: (_: Buffer, noise: number) => ({ isBase64Encoded: noise % 2 === 0 }),
};
const { text: asText, base64: asBase64, ...wrongTransports } = TRANSPORTS;
const transport = weighted<(bytes: Buffer, noise: number) => Carried>(
  [40, fc.constant(asText)],
  [40, fc.constant(asBase64)],
  [20, fc.constantFrom(...Object.values(wrongTransports))],
);

const hmac = (bytes: Uint8Array | string, secret = TEST_SECRET) =>
  createHmac('sha256', secret).update(bytes).digest();
const received = ({ body = '', isBase64Encoded }: Carried) =>
  Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');

/** What is signed if not the body itself: typical mistakes of senders and receivers. */
const MISTAKEN_SIGNATURES = {
  'of what was meant to be sent': (_: Carried, meant: Buffer) => hmac(meant),
  'of the body as it travels': ({ body = '' }: Carried) => hmac(body),
  'of the body serialised again': (carried: Carried) => hmac(reserialised(received(carried))),
  'of nothing': () => hmac(''),
  'with another secret': (carried: Carried) => hmac(received(carried), `${TEST_SECRET} `),
  'with an empty secret': (carried: Carried) => hmac(received(carried), ''),
};
const mac = weighted<(carried: Carried, meant: Buffer) => Buffer>(
  [12, fc.constant((carried) => hmac(received(carried)))],
  [4, fc.constantFrom(...Object.values(MISTAKEN_SIGNATURES))],
);

function reserialised(bytes: Buffer): string {
  try {
    return JSON.stringify(JSON.parse(bytes.toString()), null, 1);
  } catch {
    return bytes.toString('latin1');
  }
}

const ENCODINGS = {
  hex: (signature: Buffer) => signature.toString('hex'),
  'upper-case hex': (signature: Buffer) => signature.toString('hex').toUpperCase(),
  'mixed hex': (signature: Buffer) =>
    signature.toString('hex').replace(/[a-c]/g, (digit) => digit.toUpperCase()),
  base64: (signature: Buffer) => signature.toString('base64'),
  'base64 without padding': (signature: Buffer) => signature.toString('base64').slice(0, 43),
  base64url: (signature: Buffer) => `${signature.toString('base64url')}=`,
  'base64url without padding': (signature: Buffer) => signature.toString('base64url'),
};

const SPOILS = {
  'one character changed': (value: string, noise: number) => {
    const at = noise % value.length;
    return splice(value, at, value[at] === '0' ? '1' : '0', 1);
  },
  // Changes the last of 43 base64 digits. Two of its bits belong to no byte.
  'last character changed': (value: string, noise: number) =>
    value.slice(0, -1) + 'AEIMQUYcgkosw048BCD='[noise % 20],
  shorter: (value: string, noise: number) => value.slice(0, noise % value.length),
  longer: (value: string, noise: number) => value + '0=a \n\0,;'[noise % 8],
  'white space before': (value: string) => ` ${value}`,
  'white space after': (value: string, noise: number) => value + [' ', '\n', '\r\n', '\t'][noise % 4],
  'two values': (value: string) => `${value}, ${value}`,
  'two values, one right': (value: string, noise: number) =>
    `${'0'.repeat(64)},${noise % 2 ? '' : ' '}${value}`,
  'the other alphabet somewhere': (value: string) =>
    value.replace(/[+/]/, (character) => (character === '+' ? '-' : '_')),
  quoted: (value: string) => `"${value}"`,
  'hex of hex': (value: string) => Buffer.from(value).toString('hex'),
  'full-width digits': (value: string) =>
    value.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
};

const signature = fc.record({
  mac,
  encode: fc.constantFrom(...Object.values(ENCODINGS)),
  prefix: weighted(
    [9, fc.constantFrom('', 'sha256=')],
    [1, fc.constantFrom('SHA256=', 'sha1=', 'sha256:', 'sha256=sha256=', 'sha256= ', 'v1=')],
  ),
  spoil: rarely(fc.constantFrom<((value: string, noise: number) => string)[]>(...Object.values(SPOILS))),
});

const junk = fc.oneof(
  fc.constantFrom('', ' ', 'undefined', 'null', '[object Object]', '0'.repeat(64), 'A'.repeat(43), 'sha256='),
  fc.string({ unit: anyCharacter, maxLength: 70 }),
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
);

/**
 * Name of the signature header. An HTTP API converts names to lower case, so another spelling in its event is
 * another header. A REST API does not.
 */
const headerName = weighted(
  [30, fc.constant(HEADER)],
  [1, fc.constantFrom('X-Webhook-Signature', 'x-signature', `${HEADER} `, 'no header')],
  [1, fc.constant('__proto__')],
);

const OTHER_HEADERS = [
  'content-type',
  'content-encoding',
  'x-forwarded-for',
  'host',
  'constructor',
  '__proto__',
];
const otherHeaders = weighted<Record<string, string>>(
  [5, fc.constant({})],
  [1, fc.dictionary(fc.constantFrom(...OTHER_HEADERS), fc.string({ unit: anyCharacter, maxLength: 30 }))],
);

export const fuzzRequest: fc.Arbitrary<FuzzRequest> = fc
  .record({
    bytes: bodyBytes,
    transport,
    signature,
    junk: rarely(junk),
    name: headerName,
    others: otherHeaders,
    /** Name of a second header with the signature. */
    again: rarely(fc.constantFrom(HEADER, 'X-Webhook-Signature')),
    noise: fc.nat(),
  })
  .map(({ bytes, transport: carry, signature: signed, junk: other, name, others, again, noise }) => {
    const carried = carry(bytes, noise);
    const encoded = signed.prefix + signed.encode(signed.mac(carried, bytes));
    const value = other ?? signed.spoil?.(encoded, noise) ?? encoded;
    // In a JSON parser, `__proto__` becomes an ordinary property.
    const named = name === '__proto__' ? JSON.stringify({ [HEADER]: value }) : JSON.stringify(value);
    const signatureHeader = name === 'no header' ? {} : JSON.parse(`{${JSON.stringify(name)}:${named}}`);
    return {
      ...carried,
      headers: { ...others, ...signatureHeader },
      ...(again !== undefined && { repeated: [again, value] as const }),
    };
  });
