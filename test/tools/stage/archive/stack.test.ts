import { GetObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { exportRecords } from '../../../../tools/stage/archive/export.ts';
import { forget } from '../../../../tools/stage/archive/forget.ts';
import { list } from '../../../../tools/stage/archive/list.ts';
import { eventually } from '../../../support/eventually.ts';
import { Partner } from '../../../support/partner.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { Operator } from '../queues/support.ts';

/** Above what a message holds, so that the payload is in S3. */
const LARGE = 'x'.repeat(1_100_000);

let stack: LocalStack;
let operator: Operator;

beforeAll(async () => {
  stack = await startTestStack();
  operator = await Operator.create(stack);
});
afterAll(async () => {
  await operator.close();
  await stack.close();
});

async function exported(): Promise<Record<string, unknown>[]> {
  const lines: string[] = [];
  const write = async (text: string) => {
    if (text !== '') lines.push(text);
  };
  await exportRecords(operator.operation(), { events: ['user.updated'] }, { payloads: true, write });
  return lines.map((line) => JSON.parse(line));
}

test('what a running stack has archived is listed, exported, and forgotten by person', async () => {
  const partner = new Partner(stack.outputs.WebhookUrl);
  const users = ['user-1', 'user-2'].flatMap((user_id) => [
    { user_id, display_name: 'Aiko' },
    { user_id, ignored: LARGE },
  ]);
  for (const [index, data] of users.entries()) {
    const timestamp = `2026-01-31T09:00:0${index}Z`;
    expect(await partner.post({ event: 'user.updated', data, timestamp })).toMatchObject({ status: 200 });
  }

  const records = await eventually(async () => {
    const found = await exported();
    return found.length === users.length ? found : undefined;
  });
  const payloads = records.map(({ body, bodyBase64 }) =>
    JSON.parse(body === undefined ? Buffer.from(String(bodyBase64), 'base64').toString() : String(body)),
  );
  expect(payloads.map(({ data }) => data)).toEqual(expect.arrayContaining(users));

  const listing = operator.operation();
  expect(await list(listing, {}, { json: true })).toBe(true);
  const [day, ...others] = JSON.parse(listing.said.join('\n')).days;
  expect({ event: day.event, records: day.Processed + day.Stale, others }).toEqual({
    event: 'user.updated',
    records: 4,
    others: [],
  });

  const agreed = async () => true;
  const person = { kind: 'user', id: 'user-1' } as const;
  expect(await forget(operator.operation(), [person], { dryRun: false, agreed })).toBe(true);
  const left = await exported();
  expect(left.map(({ eventId }) => eventId)).toEqual(records.map(({ eventId }) => eventId));
  expect(JSON.stringify(left)).not.toContain('user-1');
  expect(left.filter(({ forgottenAt }) => forgottenAt !== undefined)).toHaveLength(2);
  expect(left.filter(({ body, bodyBase64 }) => body !== undefined || bodyBase64 !== undefined)).toHaveLength(
    2,
  );

  const large = records.find(
    ({ bodyBase64 }, index) => bodyBase64 && payloads[index].data.user_id === 'user-1',
  );
  const Key = String(large?.payloadKey);
  const gone = operator.stack.s3.send(new GetObjectCommand({ Bucket: stack.outputs.PayloadBucket, Key }));
  await expect(gone).rejects.toMatchObject({ name: 'NoSuchKey' });
});
