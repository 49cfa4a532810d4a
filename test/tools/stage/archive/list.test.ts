import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { ArchiveRecord } from '../../../../lambda/archive/record.ts';
import type { RecordFilter } from '../../../../tools/stage/archive/filter.ts';
import { list } from '../../../../tools/stage/archive/list.ts';
import { listObjects } from '../../../../tools/stage/archive/reader.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Operator } from '../queues/support.ts';
import { all, archived, deleteObjects, objectKey, putObject, putRecords } from './support.ts';

let aws: TestAws;
let operator: Operator;

beforeAll(async () => {
  aws = await startTestAws();
  operator = await Operator.create(aws);
});
afterAll(async () => {
  await operator.close();
  await aws.close();
});
afterEach(async () => deleteObjects(operator.stack, await all(listObjects(operator.stack, ''))));

interface Asked {
  readonly filter?: RecordFilter;
  readonly json?: boolean;
  readonly signal?: AbortSignal;
  readonly width?: number;
}

async function listing({ filter = {}, json = false, signal, width = Number.POSITIVE_INFINITY }: Asked = {}) {
  const operation = operator.operation(signal);
  const complete = await list({ ...operation, width }, filter, { json });
  return { complete, lines: operation.said };
}

const replay = { name: 'fix-names', mode: 'repair', notify: false } as const;

async function putHistory(): Promise<void> {
  const shop = (more: Partial<ArchiveRecord>) => archived({ settledAt: '2026-01-31T23:59:59.999Z', ...more });
  await putRecords(operator.stack, objectKey('a'), [
    shop({}),
    shop({ outcome: 'Stale' }),
    shop({ settledAt: '2026-02-01T00:00:00.000Z' }),
    shop({ replay, body: undefined }),
    shop({ forgottenAt: '2026-02-02T00:00:00.000Z', body: undefined }),
  ]);
  const user = archived({ event: 'user.updated', outcome: 'DeadLettered', shopId: 'shop-2' });
  await putRecords(operator.stack, objectKey('b', 'user.updated'), [user]);
}

test('it counts records by event, day and outcome, and those of replays apart', async () => {
  await putHistory();
  const { complete, lines } = await listing();
  expect(complete).toBe(true);
  expect(lines).toEqual([
    `Records in the archive of the stack of ${operator.outputsFile}, by the day of settling (UTC):`,
    '',
    'EVENT         PROCESSED  STALE  DUPLICATE  DEAD  REPLAYED',
    'shop.updated          3      1          0     0         1',
    '  2026-01-31          2      1          0     0         1',
    '  2026-02-01          1      0          0     0         0',
    'user.updated          0      0          0     1         0',
    '  2026-01-31          0      0          0     1         0',
    'all                   3      1          0     1         1',
    '',
    expect.stringMatching(/^6 records in 2 objects of \d+ bytes in total\.$/),
    '1 record of replay fix-names, without payloads.',
    '1 record forgotten, without payloads.',
  ]);
});

test('it fits a terminal of 60 columns', async () => {
  await putHistory();
  const key = objectKey('c', 'girl.schedule_changed');
  await putRecords(operator.stack, key, [archived({ event: 'girl.schedule_changed' })]);
  const { lines } = await listing({ width: 60 });
  const rows = lines.slice(2, lines.indexOf('', 2));
  expect(rows.length).toBeGreaterThan(9);
  expect(rows.filter((row) => row.length > 60)).toEqual([]);
});

test('with --json it says the same for programs', async () => {
  await putHistory();
  const { lines } = await listing({ json: true });
  expect(JSON.parse(lines.join('\n'))).toMatchObject({
    complete: true,
    objects: 2,
    days: [
      { event: 'shop.updated', day: '2026-01-31', Processed: 2, Stale: 1, replayed: 1, forgotten: 1 },
      { event: 'shop.updated', day: '2026-02-01', Processed: 1 },
      { event: 'user.updated', day: '2026-01-31', DeadLettered: 1 },
    ],
    replays: { 'fix-names': 1 },
    failedObjects: 0,
    damaged: [],
    bufferSeconds: 900,
  });
});

test('it counts what the filter admits', async () => {
  await putHistory();
  const { lines } = await listing({ filter: { shop: 'shop-2' }, json: true });
  expect(JSON.parse(lines.join('\n')).days).toMatchObject([{ event: 'user.updated', DeadLettered: 1 }]);
});

test('that there is nothing is said', async () => {
  const { complete, lines } = await listing();
  expect({ complete, lines }).toEqual({
    complete: true,
    lines: [`The archive of the stack of ${operator.outputsFile} has no such record.`],
  });
});

test('a damaged object is named, skipped and counted, and the others are there', async () => {
  await putHistory();
  const key = objectKey('damaged', 'girl.created');
  await putObject(operator.stack, key, Buffer.from('no gzip'));
  const { complete, lines } = await listing();
  expect(complete).toBe(false);
  expect(lines).toContain('all                   3      1          0     1         1');
  expect(lines.slice(-2)).toEqual([
    '1 object is damaged; what cannot be read was skipped:',
    `  ${key}: not gzip, or damaged from line 1 on`,
  ]);
});

test('what Firehose could not deliver is counted and not read', async () => {
  await putObject(operator.stack, 'event=shop.updated/failed=processing-failed/a', Buffer.from('{}'));
  const { complete, lines } = await listing();
  expect(complete).toBe(true);
  expect(lines.at(-1)).toBe('Not read: 1 object under failed=, which Firehose could not deliver.');
});

test('interrupted it says that these are not all', async () => {
  await putHistory();
  const { complete, lines } = await listing({ signal: AbortSignal.abort() });
  expect(complete).toBe(false);
  expect(lines).toContain('Interrupted after 0 of 2 objects: the counts are incomplete.');
});

describe('of a window older than the archive', () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);

  test('nothing is left: it is refused with how long records are kept', async () => {
    await expect(listing({ filter: { until: daysAgo(32) } })).rejects.toThrow(
      /^Nothing settled before .* is left: .* keeps records for 30 days$/,
    );
  });

  test('a part may be left: it is said', async () => {
    const { lines } = await listing({ filter: { since: daysAgo(32) } });
    expect(lines.join('\n')).toMatch(/What was settled earlier has expired: .* keeps records for 30 days\./);
  });

  test('nothing is said while it is young enough', async () => {
    const { lines } = await listing({ filter: { since: daysAgo(29) } });
    expect(lines).toHaveLength(1);
  });
});
