import { randomUUID } from 'node:crypto';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../local/local-stack.ts';
import type { Stage } from '../../../tools/stage/stage.ts';
import { eventually } from '../../support/eventually.ts';
import { Partner } from '../../support/partner.ts';
import { startTestStack } from '../../support/test-stack.ts';
import { type StageConsole, startStageConsole } from './stage-console.ts';

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

const renamed = (user: string, name: string, second: number) =>
  JSON.stringify({
    event: 'user.updated',
    data: { user_id: user, shop_id: 'shop-1', display_name: name },
    timestamp: `2026-01-31T09:00:0${second}Z`,
  });

/** Posts, and waits until the console knows what became of it. */
async function delivered(body: string) {
  const { body: answer } = await partner.post(body);
  const id = String(answer.requestId);
  const path = `/api/deliveries/${encodeURIComponent(id)}`;
  // The log tells of it before anybody can ask for its id.
  await eventually(async () => ((await stage.api.get(path)).status === 200 ? true : undefined));
  return (await stage.api.get(`${path}/settled?timeout=20`)).body;
}

/** The detail, once the archive has the delivery. */
const archived = (id: string, of: StageConsole = stage) =>
  eventually(async () => {
    const { body } = await of.api.get(`/api/deliveries/${encodeURIComponent(id)}`);
    return body.request?.bodyMissing === undefined ? body : undefined;
  });

describe('a delivery to a stage', () => {
  test('is known by the logs, its payload by the archive, and its row as it is now', async () => {
    const user = randomUUID();
    const body = renamed(user, 'Aiko', 1);
    const { id, state } = await delivered(body);
    expect(state).toBe('processed');
    const detail = await archived(id);
    expect(detail).toMatchObject({
      request: { method: 'POST', headers: [], bytes: Buffer.byteLength(body) },
      history: { now: [{ state: 'processed' }] },
      problems: [],
      effects: [
        {
          kind: 'item',
          table: 'ContactPartnerTable',
          key: user,
          now: { display_name: 'Aiko' },
          written: 'by this event',
        },
      ],
      logs: [],
    });
    const { bytes } = await stage.api.get(`/api/deliveries/${encodeURIComponent(id)}/body`);
    expect(bytes.toString()).toBe(body);
    await delivered(renamed(user, 'Hanako', 2));
    // Its name is a newer event's by now, and no field is left that this one wrote last.
    expect((await archived(id)).effects).toMatchObject([{ written: 'by a newer event' }]);
  });

  test('is sent again signed by the stage’s own secret', async () => {
    const { id, eventId } = await delivered(renamed(randomUUID(), 'Aiko', 1));
    await archived(id);
    const done = await resent(id);
    expect(done).toMatchObject({
      state: 'done',
      command: `npm run send -- --again ${id} --outputs ${stage.operator.outputsFile}`,
    });
    const again = await eventually(async () => stage.source.store.get(done.deliveries[0] ?? ''));
    expect(again.eventId).toBe(eventId);
  });

  test('that is refused has no payload, and says why', async () => {
    const { body: answer } = await partner.post('{}', { signature: '0'.repeat(64) });
    const id = String(answer.requestId);
    await eventually(async () => stage.source.store.get(id));
    const { body } = await stage.api.get(`/api/deliveries/${encodeURIComponent(id)}`);
    expect(body).toMatchObject({
      state: 'rejected',
      status: 401,
      request: { bodyMissing: expect.stringMatching(/^The archive does not have it/) },
      effects: [],
    });
    expect(await resent(id)).toMatchObject({
      state: 'failed',
      lines: ['It was not accepted, so its bytes were not stored and cannot be sent again'],
    });
  });

  /** Sends a delivery again. @returns the task, once it has ended */
  async function resent(id: string) {
    const { body } = await stage.api.post('/api/tasks', { argv: ['send', '--again', id] });
    return stage.api.ended(body.id);
  }
});

test('the console says how a command names the stage, and has no faults for it', async () => {
  const { body } = await stage.api.get('/api/stack');
  expect(body).toMatchObject({ local: false, commandSuffix: ` --outputs ${stage.operator.outputsFile}` });
  expect(body).not.toHaveProperty('secret');
  expect(await stage.api.get('/api/faults')).toMatchObject({
    status: 409,
    body: { detail: 'Faults are available on the local stack only' },
  });
});

describe('a search of payloads', () => {
  test('finds what the archive has, whatever the case, and says how far it came', async () => {
    const name = `Näme ${randomUUID()}`;
    const { id } = await delivered(renamed(randomUUID(), name, 1));
    await archived(id);
    const search = encodeURIComponent(name.toUpperCase());
    const found = await eventually(async () => {
      const { body } = await stage.api.get(`/api/deliveries?search=${search}`);
      return body.total > 0 ? body : undefined;
    });
    expect(found.deliveries).toMatchObject([{ id, shopId: 'shop-1' }]);
    expect(found.searched).toMatchObject({ limited: false });
    expect(found.searched.records).toBeGreaterThan(0);
    const { body: none } = await stage.api.get(`/api/deliveries?search=${randomUUID()}`);
    expect(none).toMatchObject({ total: 0, searched: { limited: false } });
  });
});

test('a delivery before the beginning of the list is found by a search, with what its logs say', async () => {
  const user = randomUUID();
  const { id } = await delivered(renamed(user, 'Aiko', 1));
  await archived(id);
  await using later = await startStageConsole(stack, { since: new Date() });
  const { body: list } = await later.api.get(`/api/deliveries?search=${user}&since=1h`);
  expect(list).toMatchObject({ deliveries: [{ id, state: 'processed' }], searched: { limited: false } });
  const { body: detail } = await later.api.get(`/api/deliveries/${encodeURIComponent(id)}`);
  expect(detail.history.steps.map(({ kind }: { kind: string }) => kind)).toEqual([
    'received',
    'queued',
    'answered',
    'processed',
    'archived',
  ]);
});

/** Somebody who may do no more than a function of the stack. */
function withRightsOf(name: string, found: Stage): Stage {
  const { credentials } = stack.functions.get(name)?.definition ?? {};
  const settings = { ...stack.operator, ...(credentials && { credentials }) };
  return found.with({
    sqs: new SQSClient(settings),
    s3: new S3Client({ ...settings, forcePathStyle: true }),
    logs: new CloudWatchLogsClient(settings),
    lambda: new LambdaClient(settings),
    dynamodb: new DynamoDBClient(settings),
  });
}

describe('a permission that is missing', () => {
  test('is named by each view, and the others work', async () => {
    await using poor = await startStageConsole(stack, { change: (found) => withRightsOf('receiver', found) });
    const { body: queues } = await poor.api.get('/api/queues');
    expect(queues.problems.join('\n')).toMatch(
      /the dead-letter queue of shop\.updated.*: the permission sqs:GetQueueAttributes is missing/i,
    );
    expect(queues.pausesUnknown).toBe(true);
    const { body: letters } = await poor.api.get('/api/dead-letters');
    expect(letters).toMatchObject({ groups: [], problems: [expect.stringContaining('permission')] });
    expect(await poor.api.get('/api/tables/CastTable')).toMatchObject({
      status: 502,
      body: { detail: expect.stringContaining('dynamodb:Scan') },
    });
    const { body: list } = await poor.api.get('/api/deliveries?search=Aiko');
    expect(list).toMatchObject({ deliveries: [], searched: { objects: 0, refused: expect.any(String) } });
    const notices = await eventually(async () => (poor.notices.length >= 2 ? poor.notices : undefined));
    expect(notices.map(({ about }) => about)).toEqual(expect.arrayContaining(['logs', 'archive']));
    expect(await poor.api.get('/api/stack')).toMatchObject({ status: 200 });
  });
});
