import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { archiveLine } from '../../../../lambda/archive/record.ts';
import { exportRecords } from '../../../../tools/stage/archive/export.ts';
import type { RecordFilter } from '../../../../tools/stage/archive/filter.ts';
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
  readonly payloads?: boolean;
  readonly abortAfter?: number;
}

async function exporting({ filter = {}, payloads = false, abortAfter }: Asked = {}) {
  const abort = new AbortController();
  const operation = operator.operation(abort.signal);
  const lines: string[] = [];
  const write = async (line: string) => {
    if (line === '') return;
    lines.push(line);
    if (lines.length === abortAfter) abort.abort();
  };
  const complete = await exportRecords(operation, filter, { payloads, write });
  return { complete, lines, said: operation.said.join('\n') };
}

test('it writes the records as they are, by event, then by time', async () => {
  const [late, early] = ['2026-01-31T10', '2026-01-31T09'].map((hour) => ({
    key: objectKey('a', 'shop.updated', hour),
    record: archived({ settledAt: `${hour}:30:00.000Z` }),
  }));
  const girl = archived({ event: 'girl.created', settledAt: '2026-02-01T00:00:00.000Z' });
  for (const { key, record } of [late, early].filter((item) => item !== undefined)) {
    await putRecords(operator.stack, key, [record]);
  }
  await putRecords(operator.stack, objectKey('a', 'girl.created'), [girl]);
  const { complete, lines, said } = await exporting();
  expect(complete).toBe(true);
  expect(lines).toEqual([girl, early?.record, late?.record].map((record) => archiveLine(record as never)));
  expect(said).toBe(`Exported 3 records of the stack of ${operator.outputsFile}.`);
});

test('it writes what the filter admits', async () => {
  const stale = archived({ outcome: 'Stale' });
  await putRecords(operator.stack, objectKey('a'), [archived(), stale]);
  expect((await exporting({ filter: { outcomes: ['Stale'] } })).lines).toEqual([archiveLine(stale)]);
});

test('with payloads it has the bytes behind payloadKey, or says that they are gone', async () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]);
  await operator.stack.s3.send(
    new PutObjectCommand({ Bucket: aws.outputs.PayloadBucket, Key: 'shop.updated/a', Body: bytes }),
  );
  const records = ['shop.updated/a', 'shop.updated/gone'].map((payloadKey) =>
    archived({ body: undefined, payloadKey }),
  );
  await putRecords(operator.stack, objectKey('a'), records);
  const { complete, lines, said } = await exporting({ payloads: true });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { payloadKey: 'shop.updated/a', bodyBase64: bytes.toString('base64') },
    { unreadable: 'S3 no longer has it under shop.updated/gone' },
  ]);
  expect(complete).toBe(false);
  expect(said).toContain('1 record without the payload: see "unreadable".');

  const without = await exporting();
  expect(without.complete).toBe(true);
  expect(without.lines).toEqual(records.map(archiveLine));
});

test('a damaged object is named and skipped, and the export says that it is not whole', async () => {
  const damaged = objectKey('damaged', 'girl.created');
  await putObject(operator.stack, damaged, Buffer.from('no gzip'));
  await putRecords(operator.stack, objectKey('a'), [archived()]);
  const { complete, lines, said } = await exporting();
  expect({ complete, count: lines.length }).toEqual({ complete: false, count: 1 });
  expect(said).toContain(`${damaged}: not gzip`);
});

test('interrupted it says how far it got', async () => {
  const records = [archived(), archived(), archived()];
  for (const name of ['a', 'b']) await putRecords(operator.stack, objectKey(name), records);
  const { complete, lines, said } = await exporting({ abortAfter: 4 });
  expect({ complete, count: lines.length, said }).toEqual({
    complete: false,
    count: 4,
    said: 'Interrupted after 1 of 2 objects and 4 records: the export is incomplete.',
  });
});
