import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InjectedFaults } from 'local-aws/endpoint';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { essence, type ReceivedDelivery, versionOf } from '../../support/oracle.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import {
  type Damage,
  damage,
  damages,
  fillIn,
  history,
  ofRun,
  StateConsumers,
  type StoredRow,
  underRightVersions,
} from './state-consumers.ts';

const faults = new InjectedFaults(1);
let aws: TestAws;
let consumers: StateConsumers;
beforeAll(async () => {
  aws = await startTestAws(faults);
  consumers = await StateConsumers.load(aws);
});
afterAll(() => aws.close());

const repair: Replay = { name: 'repair-1', mode: 'repair', notify: false };
const fill: Replay = { name: 'gap', mode: 'fill', notify: false };

/** A delivery that reaches the consumers after the damage: an old one sent by a replay, or a live one. */
interface ReplayStep {
  readonly delivery: ReceivedDelivery;
  readonly replay: Replay | undefined;
}

/** Random numbers from 0 up to 1, which a property uses in turn. Fewer of them would not be simpler. */
const chance = fc.noShrink(
  fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 64, maxLength: 64 }),
);

interface GivenHistory {
  readonly deliveries: readonly ReceivedDelivery[];
  /** Deliveries that arrive during the replay. */
  readonly live: readonly ReceivedDelivery[];
  readonly harm: readonly Damage[];
  readonly numbers: readonly number[];
  readonly others: readonly number[];
}

/** Generated histories per property. Each test run generates other ones, so one run need not find every bug. */
const HISTORIES = 12;

/**
 * Generated histories for a property that processes each history several times, or is a special case of another one.
 */
const FEW_HISTORIES = 6;

let run = 0;

/** Checks a property of histories. Each run uses its own items. */
const forHistories = (numRuns: number, check: (given: GivenHistory) => Promise<void>) =>
  fc.assert(
    fc.asyncProperty(
      history,
      history,
      damages,
      chance,
      chance,
      async (past, present, harm, numbers, others) => {
        run += 1;
        await check({ deliveries: ofRun(run, past), live: ofRun(run, present), harm, numbers, others });
      },
    ),
    { numRuns },
  );

async function deliver(deliveries: readonly ReceivedDelivery[], replay?: Replay): Promise<void> {
  for (const delivery of deliveries) await consumers.deliver(delivery, replay);
}

/**
 * Processes the history, and damages its items.
 * @returns the steps of a complete replay, and of live deliveries
 */
async function damagedState(
  deliveries: readonly ReceivedDelivery[],
  harm: readonly Damage[],
  live: readonly ReceivedDelivery[],
  numbers: readonly number[],
  replays: readonly Replay[] = [repair],
): Promise<ReplayStep[]> {
  await deliver(deliveries);
  const rows = await consumers.rows(deliveries);
  const writers = versionsIn(rows);
  await damage(consumers.tables, rows, harm);
  const next = inTurn(numbers);
  const replayed = deliveries.flatMap((delivery) => {
    const times = (writers.has(versionOf(delivery)) ? 1 : 0) + Math.floor(next() * 3);
    return replays.flatMap((replay) => Array.from({ length: times }, () => ({ delivery, replay })));
  });
  return shuffled([...replayed, ...live.map((delivery) => ({ delivery, replay: undefined }))], numbers);
}

/** Versions of the events that wrote the items: those that a replay must include. */
const versionsIn = (rows: readonly StoredRow[]): ReadonlySet<unknown> =>
  new Set(
    rows.flatMap(({ row = {} }) =>
      Object.entries(row).flatMap(([name, value]) => (/(^|_)version$/.test(name) ? [value] : [])),
    ),
  );

function inTurn(numbers: readonly number[]): () => number {
  let taken = 0;
  return () => numbers[taken++ % numbers.length] ?? 0;
}

/** Calls one after the other, or all at the same time. */
async function each<Item>(items: readonly Item[], together: boolean, act: (item: Item) => Promise<unknown>) {
  if (together) await Promise.all(items.map(act));
  else for (const item of items) await act(item);
}

test('any order and number of deliveries, also at the same time, end in the state of the newest events', () =>
  forHistories(HISTORIES, async ({ deliveries, numbers: [number = 0] }) => {
    await each(deliveries, number < 0.5, (delivery) => consumers.deliver(delivery));
    await consumers.expectState(deliveries);
  }));

// Takes 3 s: each history is delivered, damaged and repaired.
test('one repair or two at a time fix any damage, in any order, with duplicates and live deliveries in between', () =>
  forHistories(HISTORIES, async ({ deliveries, live, harm, numbers }) => {
    const together = (numbers[0] ?? 0) < 0.5;
    const replays = together ? [repair, { ...repair, name: 'again' }] : [repair];
    const steps = await damagedState(deliveries, harm, live, numbers, replays);
    await each(steps, together, ({ delivery, replay }) => consumers.deliver(delivery, replay));
    await consumers.expectState([...deliveries, ...live]);
  }));

test('a repair that is interrupted during its writes and run again does so, too', () =>
  forHistories(FEW_HISTORIES, async ({ deliveries, harm, numbers }) => {
    const steps = await damagedState(deliveries, harm, [], numbers);
    // Calls fail often enough that some writes of a message fail finally.
    const heal = faults.inject({ service: 'dynamodb', kind: 'down', share: 0.5, callers: 'everyone' });
    try {
      await Promise.all(steps.map(({ delivery, replay }) => consumers.attempt(delivery, replay)));
    } finally {
      heal();
    }
    for (const { delivery, replay } of steps.toReversed()) await consumers.deliver(delivery, replay);
    await consumers.expectState(deliveries);
  }));

test('two repairs fix fields whose version names an event that does not carry them', () =>
  forHistories(FEW_HISTORIES, async ({ deliveries, numbers, others }) => {
    await deliver(deliveries);
    await fillIn(consumers.tables, await consumers.rows(deliveries));
    await deliver(shuffled(deliveries, numbers), repair);
    await deliver(shuffled(deliveries, others), { ...repair, name: 'second' });
    await consumers.expectState(deliveries);
  }));

test('a fill restores missing items, and overwrites no equal version; a repair of right items changes only times', () =>
  forHistories(FEW_HISTORIES, async ({ deliveries, harm, numbers }) => {
    await deliver(some(deliveries, numbers));
    await deliver(deliveries, fill);
    await consumers.expectState(deliveries);
    await deliver(some(deliveries, numbers), repair);
    await consumers.expectState(deliveries);
    await damage(consumers.tables, await consumers.rows(deliveries), harm.filter(underRightVersions));
    const before = await consumers.rows(deliveries);
    await deliver(some(deliveries, numbers), fill);
    expect((await consumers.rows(deliveries)).map(withoutCache)).toEqual(before.map(withoutCache));
  }));

/** The item without a cached shop, which any event may remove. */
const withoutCache = ({ row }: StoredRow) => essence({ ...row, shop: undefined });

/** About half of the deliveries, in another order, some of them twice. */
function some(deliveries: readonly ReceivedDelivery[], numbers: readonly number[]): ReceivedDelivery[] {
  const twice = shuffled([...deliveries, ...deliveries], numbers);
  return twice.filter((_, index) => (numbers[index % numbers.length] ?? 0) < 0.5);
}

function shuffled<Item>(items: readonly Item[], numbers: readonly number[]): Item[] {
  const next = inTurn(numbers.toReversed());
  return items
    .map((item) => ({ item, place: next() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
