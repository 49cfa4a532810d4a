import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Deployment } from './deployment.ts';
import { eventIdOf } from './partner.ts';
import { minutesAgo, ofThisRun } from './settings.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await Deployment.connect();
});
afterAll(() => deployment?.cleanUp());

const timestamp = minutesAgo(2);
const megabytes = (count: number) => 'x'.repeat(count * 1_000_000);

describe('a body above SQS’ limit of 1 MiB', () => {
  test.each([1.2, 4])('of %d MB is processed like a small one', async (size) => {
    const data = { girl_id: ofThisRun(`girl-${size}`), name: 'Hana', notes: megabytes(size) };
    const answer = await deployment.post({ event: 'girl.created', data, timestamp });
    expect(answer).toMatchObject({ status: 200, body: { status: 'queued' } });
    const row = await deployment.row(deployment.outputs.CastTable, { girl_id: data.girl_id });
    expect(row).toMatchObject({ status: 'active', name: 'Hana' });
  });

  test('of an unknown kind is parked with the address of its payload', async () => {
    const data = { shop_id: ofThisRun('shop'), notes: megabytes(1.2) };
    const body = JSON.stringify({ event: 'acceptance.unknown', data, timestamp });
    const answer = await deployment.post(body);
    expect(answer).toMatchObject({ status: 200, body: { status: 'parked', eventId: eventIdOf(body) } });
    const { Body, MessageAttributes } = await deployment.kept(deployment.outputs.UnroutedQueueUrl, answer);
    const { payloadKey } = JSON.parse(Body ?? '');
    expect(payloadKey).toBe(`unrouted/${eventIdOf(body)}`);
    expect(MessageAttributes?.payloadKey?.StringValue).toBe(payloadKey);
    expect((await deployment.payload(payloadKey)) === body).toBe(true);
  });

  test('that is unusable is in quarantine with the address of its bytes', async () => {
    const body = `${ofThisRun('unusable')} ${megabytes(1.2)}`;
    const answer = await deployment.post(body);
    expect(answer.status).toBe(400);
    const { Body } = await deployment.kept(deployment.outputs.QuarantineQueueUrl, answer);
    const { payloadKey, problems } = JSON.parse(Body ?? '');
    expect({ payloadKey, problems }).toMatchObject({
      payloadKey: `quarantine/${eventIdOf(body)}`,
      problems: [{ field: 'body' }],
    });
    expect((await deployment.payload(payloadKey)) === body).toBe(true);
  });
});
