import { randomUUID } from 'node:crypto';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { eventually } from '../../../test/support/eventually.ts';
import { Partner } from '../../../test/support/partner.ts';
import { startTestStack } from '../../../test/support/test-stack.ts';
import type { Stage } from '../../stage/stage.ts';
import { type StageConsole, startStageConsole } from './support.ts';

let stack: LocalStack;
let stage: StageConsole;
let partner: Partner;

beforeAll(async () => {
  stack = await startTestStack();
  stage = await startStageConsole(stack);
  partner = new Partner(stack.outputs.WebhookUrl);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await stack.close();
});

const renamed = (user: string, name = 'Aiko', second = 1) =>
  JSON.stringify({
    event: 'user.updated',
    data: { user_id: user, shop_id: 'shop-1', display_name: name },
    timestamp: `2026-01-31T09:00:0${second}Z`,
  });

const pathOf = (id: string) => `/api/deliveries/${encodeURIComponent(id)}`;

/**
 * Posts a delivery.
 * @returns its row when the logs show that it is processed
 */
async function deliver(body: string) {
  const { body: answer } = await partner.post(body);
  return eventually(async () => {
    const row = stage.source.store.get(String(answer.requestId));
    return row?.state === 'processed' ? row : undefined;
  });
}

/**
 * Waits until the archive has the delivery.
 * @returns its detail
 */
const archived = (id: string) =>
  eventually(async () => {
    const { body } = await stage.api.get(pathOf(id));
    return body.settled !== undefined && body.bodyMissing === undefined ? body : undefined;
  });

/** Sends a delivery again. @returns the command when it has ended */
const resend = async (id: string) => (await stage.api.run(['send', '--again', id])).body;

describe('a delivery to a stage', () => {
  test('is read from the logs, its payload from the archive, which a search finds, and its item as it is now', async () => {
    const user = randomUUID();
    const name = `Näme ${randomUUID()}`;
    const body = renamed(user, name);
    const { id } = await deliver(body);
    const item = { kind: 'item', table: 'ContactPartnerTable', key: user, now: { display_name: name } };
    const detail = await archived(id);
    expect(detail).toMatchObject({
      bytes: Buffer.byteLength(body),
      history: { now: [{ state: 'processed' }] },
      problems: [],
      effects: [{ ...item, written: 'by this event' }],
      logs: [],
    });
    expect((await stage.api.get(`${pathOf(id)}/body`)).bytes.toString()).toBe(body);
    const kinds = detail.history.steps.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(['received', 'queued', 'answered', 'processed', 'archived']);
    const found = stage.source.store.list({ search: name.toUpperCase() });
    expect(found).toMatchObject([{ id, shopId: 'shop-1', state: 'processed' }]);
    await deliver(renamed(user, 'Hanako', 2));
    // This event is no longer the last one for any field.
    expect((await archived(id)).effects).toMatchObject([{ written: 'by another event' }]);
  });

  test('can be sent again with the stage’s own secret', async () => {
    const { id, eventId } = await deliver(renamed(randomUUID()));
    await archived(id);
    const done = await resend(id);
    expect(done).toMatchObject({
      state: 'done',
      command: `npx hookctl send --again ${id} --outputs ${stage.operator.outputsFile}`,
    });
    const again = await eventually(async () => stage.source.store.get(done.sent[0].requestId));
    expect(again.eventId).toBe(eventId);
  });

  test('that is rejected has no payload, and a reason for that', async () => {
    const { body: answer } = await partner.post('{}', { signature: '0'.repeat(64) });
    const id = String(answer.requestId);
    await eventually(async () => stage.source.store.get(id));
    expect((await stage.api.get(pathOf(id))).body).toMatchObject({
      state: 'rejected',
      status: 401,
      bodyMissing: expect.stringMatching(/^The archive does not have it/),
      effects: [],
    });
    expect(await resend(id)).toMatchObject({
      state: 'failed',
      lines: ['It was not accepted, so its bytes were not stored and cannot be sent again'],
    });
  });
});

test('the console of a stage tells how commands name the stage, and does not show its secret', async () => {
  const { body } = await stage.api.get('/api/stack');
  expect(body).toMatchObject({ local: false, commandSuffix: ` --outputs ${stage.operator.outputsFile}` });
  expect(body).not.toHaveProperty('secret');
});

/** A stage whose caller has only the permissions of the receiver. */
function withRightsOfReceiver(found: Stage): Stage {
  const { credentials } = stack.functions.get('receiver')?.definition ?? {};
  const settings = { ...stack.operator, ...(credentials && { credentials }) };
  return found.with({
    sqs: new SQSClient(settings),
    s3: new S3Client({ ...settings, forcePathStyle: true }),
    logs: new CloudWatchLogsClient(settings),
    lambda: new LambdaClient(settings),
    dynamodb: new DynamoDBClient(settings),
  });
}

test('each view names a missing permission, and the others work', async () => {
  await using poor = await startStageConsole(stack, { change: withRightsOfReceiver });
  const { body: queues } = await poor.api.get('/api/queues');
  expect(queues.problems.join('\n')).toMatch(
    /the dead-letter queue of shop\.updated.*: the permission sqs:GetQueueAttributes is missing/i,
  );
  expect(queues.pausesUnknown).toBe(true);
  const { body: waiting } = await poor.api.get('/api/needs-you');
  expect(waiting).toMatchObject({ messages: [], problems: [expect.stringContaining('permission')] });
  await eventually(async () => (poor.notices.length >= 2 ? true : undefined));
  expect(poor.notices).toEqual(expect.arrayContaining(['logs', 'archive']));
  expect(await poor.api.get('/api/stack')).toMatchObject({ status: 200 });
});
