import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ReceivedDelivery } from '../../support/oracle.ts';
import type { Row } from '../../support/tables.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { StateConsumers } from './state-consumers.ts';

let aws: TestAws;
let consumers: StateConsumers;
beforeAll(async () => {
  aws = await startTestAws();
  consumers = await StateConsumers.load(aws);
});
afterAll(() => aws.close());

/** Generated histories. For a long run: `CLOCK_HISTORIES=10000 npx hookctl test clocks`. */
const HISTORIES = Number(process.env.CLOCK_HISTORIES ?? 10);

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How far the partner's clock is ahead or behind. */
const CLOCKS = [-2 * HOUR, -6 * MINUTE, -SECOND, 0, 4 * MINUTE, 6 * MINUTE, HOUR] as const;

/** Events of one member, one user and one shop. A user's fields are merged, so its events carry different ones. */
const EVENTS = [
  { event: 'girl.created', key: 'girl_id', fields: ['name'] },
  { event: 'girl.deleted', key: 'girl_id', fields: [] },
  { event: 'shop.updated', key: 'shop_id', fields: ['updated_fields'] },
  { event: 'user.updated', key: 'user_id', fields: ['display_name'] },
  { event: 'user.updated', key: 'user_id', fields: ['profile_image_url'] },
  { event: 'user.updated', key: 'user_id', fields: ['display_name', 'profile_image_url'] },
] as const;

type EventKind = (typeof EVENTS)[number];

/** An event as the partner sent it first. */
interface SentEvent extends ReceivedDelivery {
  readonly kind: EventKind;
  /** With nanoseconds, so that no two moments of a history are equal. */
  readonly timestamp: string;
  /** The value of each field. */
  readonly word: string;
}

/** What the partner does after a pause: it sends a new event, or the bytes of an earlier one. */
const step = fc.record({
  pause: fc.constantFrom(1, SECOND, MINUTE, 5 * MINUTE, 7 * MINUTE, 56 * MINUTE, HOUR, 100 * DAY),
  repeated: fc.option(fc.nat(20), { freq: 2 }),
  kind: fc.constantFrom(...EVENTS),
  clock: fc.constantFrom(...CLOCKS, 'year 9999' as const),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const nanoseconds = (milliseconds: number, extra = 0) =>
  new Date(milliseconds).toISOString().replace('Z', `${String(extra).padStart(6, '0')}Z`);

/**
 * Decision D8, for two events of the same item: whether the one that was received later wins. It wins if its timestamp
 * is later. It also wins if its timestamp is more than five minutes later than the first receipt of the other one.
 */
const wins = (later: SentEvent, earlier: SentEvent) =>
  later.timestamp > earlier.timestamp ||
  later.timestamp > nanoseconds(Date.parse(earlier.receivedAt) + 5 * MINUTE);

/** The event that decides a field. It depends on the first receipts only, not on repeats. */
const decidingEvent = (events: readonly SentEvent[]) =>
  events.reduce<SentEvent | undefined>(
    (best, event) => (!best || wins(event, best) ? event : best),
    undefined,
  );

function expectedValues(sent: readonly SentEvent[]) {
  const ofItem = (key: string) => sent.filter(({ kind }) => kind.key === key);
  const wordOf = (field: string) =>
    decidingEvent(ofItem('user_id').filter(({ kind }) => (kind.fields as readonly string[]).includes(field)))
      ?.word;
  const member = decidingEvent(ofItem('girl_id'));
  const isActive = member?.kind.event === 'girl.created';
  return {
    status: member && (isActive ? 'active' : 'deleted'),
    name: isActive ? member.word : undefined,
    updated_fields: decidingEvent(ofItem('shop_id'))?.word,
    display_name: wordOf('display_name'),
    profile_image_url: wordOf('profile_image_url'),
  };
}

function newEvent(run: number, index: number, now: number, { kind, clock }: Step): SentEvent {
  const word = `word-${index}`;
  const timestamp = nanoseconds(clock === 'year 9999' ? Date.UTC(9999, 11, 31) : now + clock, index + 1);
  const values = kind.fields.map((name) => [name, name === 'updated_fields' ? [word] : word]);
  const data = { [kind.key]: `clocks-${run}`, ...Object.fromEntries(values) };
  const body = JSON.stringify({ event: kind.event, data, timestamp });
  return { body, receivedAt: new Date(now).toISOString(), kind, timestamp, word };
}

/** The values that the events decide, of all items. */
function valuesIn(rows: readonly Row[]) {
  const { status, name, updated_fields, display_name, profile_image_url }: Row = Object.assign({}, ...rows);
  return { status, name, updated_fields: updated_fields?.toString(), display_name, profile_image_url };
}

/** An event, a newer one, then the first one's bytes again, from a clock that is an hour ahead. */
function reverting(first: EventKind, second: EventKind): [Step[]] {
  const given = { pause: MINUTE, repeated: null, clock: HOUR } as const;
  return [
    [first, second].map((kind): Step => ({ ...given, kind })).concat({ ...given, kind: first, repeated: 0 }),
  ];
}

let run = 0;

test(
  'with clocks ahead and behind, the right events win, and repeats at any time change nothing',
  async () => {
    const history = fc.noBias(fc.array(step, { minLength: 4, maxLength: 12 }));
    const property = fc.asyncProperty(history, async (steps) => {
      run += 1;
      const sent: SentEvent[] = [];
      let now = Date.parse('2026-01-31T09:00:00.000Z');
      let before: Row[] = [];
      for (const [index, each] of steps.entries()) {
        now += each.pause;
        const known = each.repeated === null ? undefined : sent[each.repeated % Math.max(1, sent.length)];
        const event = known ?? newEvent(run, index, now, each);
        if (!known) sent.push(event);
        await consumers.deliver({ body: event.body, receivedAt: new Date(now).toISOString() });
        // A stale repeat may remove a cached shop, so readers see that something was invalidated.
        const rows = (await consumers.rows(sent)).map(({ row }) => ({ ...row, invalidation: undefined }));
        if (known) expect(rows).toEqual(before);
        expect(valuesIn(rows)).toEqual(expectedValues(sent));
        before = rows;
      }
    });
    const examples = [reverting(EVENTS[0], EVENTS[1]), reverting(EVENTS[3], EVENTS[3])];
    await fc.assert(property, { numRuns: HISTORIES, examples });
  },
  // Enough for a long run on a busy computer.
  5 * MINUTE + HISTORIES * SECOND,
);
