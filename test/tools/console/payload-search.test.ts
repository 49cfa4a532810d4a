import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TextSearch } from '../../../tools/console/payload-search.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { archived, objectKey, putObject, putRecords } from '../stage/archive/support.ts';
import { Operator } from '../stage/queues/support.ts';

const HOURS = ['2026-01-31T09', '2026-01-31T10', '2026-01-31T11', '2026-01-31T12'];

let aws: TestAws;
let operator: Operator;

beforeAll(async () => {
  aws = await startTestAws();
  operator = await Operator.create(aws);
  for (const [index, hour] of HOURS.entries()) {
    const record = archived({ requestId: `request-${index}`, body: `{"number":${index},"name":"Aiko"}` });
    await putRecords(operator.stack, objectKey('a', 'user.updated', hour), [record, archived()]);
  }
});
afterAll(async () => {
  await operator.close();
  await aws.close();
});

const SINCE = new Date('2026-01-31T08:00:00Z');

async function run(search: TextSearch, signal = new AbortController().signal) {
  const found: string[] = [];
  const searched = await search.run(
    operator.stack,
    { since: SINCE, until: undefined, signal },
    ({ requestId = '' }) => found.push(requestId),
  );
  return { searched, found };
}

const limited = (objects: number) => new TextSearch('aiko', { objects, bytes: 1e9, seconds: 20 });

test('a search reads from the newest hour on, up to its limit, and says from when on it has read all', async () => {
  const { searched, found } = await run(limited(2));
  expect(found).toEqual(['request-3', 'request-2']);
  expect(searched).toEqual({ objects: 2, records: 4, limited: true, since: '2026-01-31T11:00:00.000Z' });
});

test('the next run of a search continues it, and reads nothing twice', async () => {
  const search = limited(3);
  await run(search);
  const { searched, found } = await run(search);
  expect(found).toEqual(['request-0']);
  expect(searched).toEqual({ objects: 4, records: 8, limited: false, since: SINCE.toISOString() });
  expect((await run(search)).found).toEqual([]);
  expect(search.has('request-0')).toBe(true);
  expect(search.has('request-1')).toBe(true);
  expect(search.has('request-4')).toBe(false);
});

test('a run that is aborted leaves its objects to the next one', async () => {
  const search = new TextSearch('aiko');
  const aborted = await run(search, AbortSignal.abort());
  expect(aborted).toMatchObject({ found: [], searched: { objects: 0, limited: true } });
  expect((await run(search)).found).toHaveLength(4);
});

test('a damaged object ends no search', async () => {
  await putObject(operator.stack, objectKey('damaged', 'user.updated', '2026-01-31T13'), Buffer.from('x'));
  const { searched, found } = await run(new TextSearch('aiko'));
  expect(found).toHaveLength(4);
  expect(searched).toMatchObject({ objects: 5, limited: false });
});
