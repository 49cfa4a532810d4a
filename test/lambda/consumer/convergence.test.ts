import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InjectedFaults } from 'local-aws/faults';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { essence, type ReceivedDelivery, versionOf } from '../../support/oracle.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import {
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
const again: Replay = { ...repair, name: 'again' };
const fill: Replay = { name: 'gap', mode: 'fill', notify: false };

/** Generated histories per property. Each test run generates other ones, so one run need not find every bug. */
const HISTORIES = 6;

let run = 0;

interface GivenHistory {
  readonly deliveries: readonly ReceivedDelivery[];
  /** Draws a random value. */
  readonly draw: fc.GeneratorValue;
}

/** Checks a property of histories. Each run uses its own items. */
const forHistories = (check: (given: GivenHistory) => Promise<void>) =>
  fc.assert(
    fc.asyncProperty(history, fc.gen(), async (past, draw) => {
      run += 1;
      await check({ deliveries: ofRun(run, past), draw });
    }),
    { numRuns: HISTORIES },
  );

async function deliver(deliveries: readonly ReceivedDelivery[], replay?: Replay): Promise<void> {
  for (const delivery of deliveries) await consumers.deliver(delivery, replay);
}

const shuffled = <Item>(items: readonly Item[], draw: fc.GeneratorValue): Item[] =>
  draw(fc.shuffledSubarray<Item>, [...items], { minLength: items.length });

/** Some of the deliveries, in another order, some of them twice. */
const some = (deliveries: readonly ReceivedDelivery[], draw: fc.GeneratorValue): ReceivedDelivery[] =>
  draw(fc.shuffledSubarray<ReceivedDelivery>, [...deliveries, ...deliveries]);

/** Versions of the events that wrote the items: those that a replay must include. */
const versionsIn = (rows: readonly StoredRow[]): ReadonlySet<unknown> =>
  new Set(
    rows.flatMap(({ row = {} }) =>
      Object.entries(row).flatMap(([name, value]) => (/(^|_)version$/.test(name) ? [value] : [])),
    ),
  );

/** Calls one after the other, or all at the same time. */
async function each<Item>(items: readonly Item[], together: boolean, act: (item: Item) => Promise<unknown>) {
  if (together) await Promise.all(items.map(act));
  else for (const item of items) await act(item);
}

/**
 * Processes the history, and damages its items.
 * @returns the steps of complete replays, in any order, each delivery up to three times
 */
async function damagedState({ deliveries, draw }: GivenHistory, replays: readonly Replay[]) {
  await deliver(deliveries);
  const rows = await consumers.rows(deliveries);
  const writers = versionsIn(rows);
  await damage(
    consumers.tables,
    rows,
    draw(() => damages),
  );
  const steps = deliveries.flatMap((delivery) => {
    const times = (writers.has(versionOf(delivery)) ? 1 : 0) + draw(fc.nat, { max: 2 });
    return replays.flatMap((replay) => Array.from({ length: times }, () => ({ delivery, replay })));
  });
  return shuffled(steps, draw);
}

test('any order and number of deliveries, also at the same time, end in the state of the newest events', () =>
  forHistories(async ({ deliveries, draw }) => {
    await each(deliveries, draw(fc.boolean), (delivery) => consumers.deliver(delivery));
    await consumers.expectState(deliveries);
  }));

test('one repair or two at a time fix any damage, in any order, with duplicates and live deliveries in between', () =>
  forHistories(async ({ deliveries, draw }) => {
    const together = draw(fc.boolean);
    const live = ofRun(
      run,
      draw(() => history),
    ).map((delivery) => ({ delivery, replay: undefined }));
    const steps = await damagedState({ deliveries, draw }, together ? [repair, again] : [repair]);
    await each(shuffled([...steps, ...live], draw), together, ({ delivery, replay }) =>
      consumers.deliver(delivery, replay),
    );
    await consumers.expectState([...deliveries, ...live.map(({ delivery }) => delivery)]);
  }));

test('a repair that is interrupted during its writes and run again does so, too', () =>
  forHistories(async (given) => {
    const steps = await damagedState(given, [repair]);
    // Calls fail often enough that some writes of a message fail finally.
    const heal = faults.inject({ service: 'dynamodb', kind: 'down', share: 0.5, callers: 'everyone' });
    try {
      await Promise.all(steps.map(({ delivery, replay }) => consumers.attempt(delivery, replay)));
    } finally {
      heal();
    }
    for (const { delivery, replay } of steps.toReversed()) await consumers.deliver(delivery, replay);
    await consumers.expectState(given.deliveries);
  }));

test('two repairs fix fields whose version names an event that does not carry them', () =>
  forHistories(async ({ deliveries, draw }) => {
    await deliver(deliveries);
    await fillIn(consumers.tables, await consumers.rows(deliveries));
    await deliver(shuffled(deliveries, draw), repair);
    await deliver(shuffled(deliveries, draw), again);
    await consumers.expectState(deliveries);
  }));

test('a fill restores missing items, and overwrites no equal version; a repair of right items changes only times', () =>
  forHistories(async ({ deliveries, draw }) => {
    await deliver(some(deliveries, draw));
    await deliver(deliveries, fill);
    await consumers.expectState(deliveries);
    await deliver(some(deliveries, draw), repair);
    await consumers.expectState(deliveries);
    await damage(
      consumers.tables,
      await consumers.rows(deliveries),
      draw(() => damages).filter(underRightVersions),
    );
    const before = await consumers.rows(deliveries);
    await deliver(some(deliveries, draw), fill);
    expect((await consumers.rows(deliveries)).map(withoutCache)).toEqual(before.map(withoutCache));
  }));

/** The item without a cached shop, which any event may remove. */
const withoutCache = ({ row }: StoredRow) => essence({ ...row, shop: undefined });
