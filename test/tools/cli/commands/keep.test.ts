import { readFile, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.ts';
import { Partner } from '../../../support/partner.ts';
import { Queues } from '../../../support/queues.ts';
import { Tables } from '../../../support/tables.ts';
import { freePort, Project, type Running } from './project.ts';

const SECRET = 'of the first run';
const OTHER_SECRET = 'of the second run';

/** Deliveries in progress when the stack is killed. */
const BURST = 60;
/** Number of answers that arrived before. */
const ANSWERED = 20;

let project: Project;
let stack: Running;
let port: number;

beforeAll(async () => {
  project = await Project.create();
  await start(SECRET);
});

afterAll(async () => {
  await kill();
  await project?.remove();
});

async function start(secret: string): Promise<void> {
  port = await freePort();
  const ports = ['--port', String(port), '--aws-port', String(await freePort()), '--console-port', '0'];
  stack = project.start(['start', '--keep', '--secret', secret, ...ports]);
  while (!stack.stdout().includes('Ready in')) {
    if (stack.process.exitCode !== null) throw new Error(`The stack ended: ${(await stack.ended).stderr}`);
    await sleep(50);
  }
}

/** Stops the stack as Ctrl-C does. */
async function interrupt(): Promise<void> {
  stack.interrupt();
  expect(await stack.ended).toMatchObject({ code: 0 });
}

/** Kills all its processes, like a crash of the user's session. */
async function kill(): Promise<void> {
  const { pid, exitCode, signalCode } = stack?.process ?? {};
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  process.kill(-pid, 'SIGKILL');
  await stack.ended;
}

async function here() {
  const [outputs] = Object.values<Record<string, string>>(
    JSON.parse(await readFile(project.path('.local/outputs.json'), 'utf8')),
  );
  if (outputs === undefined) throw new Error('The stack has left no outputs');
  const settings = {
    endpoint: new URL(outputs.ShopUpdatedQueueUrl ?? '').origin,
    region: 'us-east-1',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'any' },
  };
  return {
    outputs,
    queues: new Queues(settings),
    tables: new Tables(settings),
    s3: new S3Client({ ...settings, forcePathStyle: true }),
    partner: new Partner(outputs.WebhookUrl),
  };
}

const timestamp = '2026-01-31T09:00:00Z';
const userUpdated = (id: string) => ({ event: 'user.updated', data: { user_id: id }, timestamp });

async function listed(): Promise<string> {
  const { url } = JSON.parse(await readFile(project.path('.local/console.json'), 'utf8'));
  return (await fetch(new URL('/api/deliveries', url))).text();
}

describe('a stack with --keep that is stopped, started again, and killed during its work', () => {
  let eventId: string;
  let beginning: string;
  let continued: string;

  beforeAll(async () => {
    beginning = stack.stdout();
    const { outputs, queues, tables, s3, partner } = await here();
    const post = async (body: unknown) => (await partner.post(body, { secret: SECRET })).body;

    ({ eventId } = (await post({ event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp })) as {
      eventId: string;
    });
    await eventually(async () => tables.get(outputs.ShopCacheTable, { shop_id: 'shop-1' }));
    await queues.client.send(
      new SendMessageCommand({ QueueUrl: outputs.ShopUpdatedQueueUrl, MessageBody: 'no message' }),
    );
    await eventually(async () =>
      (await queues.count(outputs.ShopUpdatedDeadLetterQueueUrl)) > 0 ? true : undefined,
    );
    await eventually(async () => {
      const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: outputs.ArchiveBucket }));
      return Contents;
    });

    const paused = await project.run(['pause', 'girl.created', '--reason', 'of a test']);
    expect(paused).toMatchObject({ code: 0 });
    await post({ event: 'girl.created', data: { girl_id: 'girl-1' }, timestamp });
    await interrupt();
    await start(OTHER_SECRET);
    continued = stack.stdout();
    await burst();
    await kill();
    await start(OTHER_SECRET);
  });

  /** @returns while deliveries are still in progress */
  async function burst(): Promise<void> {
    const { outputs, queues, partner } = await here();
    // Messages that are in flight when the stack is killed come back soon.
    await queues.client.send(
      new SetQueueAttributesCommand({
        QueueUrl: outputs.UserUpdatedQueueUrl,
        Attributes: { VisibilityTimeout: '3' },
      }),
    );
    let answered = 0;
    for (let index = 0; index < BURST; index += 1) {
      partner.post(userUpdated(`user-${index}`), { secret: OTHER_SECRET }).then(
        () => {
          answered += 1;
        },
        () => {},
      );
    }
    await eventually(async () => (answered >= ANSWERED ? true : undefined), { interval: 1 });
  }

  test('reports at first that it begins empty', () => {
    expect(beginning).toMatch(/^Starting empty, stored in \.local\/kept$/m);
  });

  test('reports what it continues with, and that the secret has changed', () => {
    expect(continued).toContain('Continuing with .local/kept');
    expect(continued).toContain('The secret has changed');
  });

  test('processes what it had accepted when it was killed', async () => {
    const { outputs, queues } = await here();
    await eventually(async () =>
      (await queues.count(outputs.UserUpdatedQueueUrl)) === 0 ? true : undefined,
    );
    expect(await queues.count(outputs.UserUpdatedDeadLetterQueueUrl)).toBe(0);
  });

  test('has the row, the archive and the dead letter with its reason', async () => {
    const { outputs, queues, tables, s3 } = await here();
    expect(await tables.get(outputs.ShopCacheTable, { shop_id: 'shop-1' })).toMatchObject({
      shop_id: 'shop-1',
    });
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: outputs.ArchiveBucket }));
    expect(Contents).toBeDefined();
    const dead = await queues.take(outputs.ShopUpdatedDeadLetterQueueUrl);
    expect(dead).toMatchObject({
      Body: 'no message',
      MessageAttributes: { failureReason: { StringValue: expect.any(String) } },
    });
  });

  test('still holds the paused event, until it is resumed', async () => {
    const { outputs, queues, tables } = await here();
    expect(await queues.count(outputs.GirlCreatedQueueUrl)).toBe(1);
    const key = { girl_id: 'girl-1' };
    expect(await tables.get(outputs.CastTable, key)).toBeUndefined();
    expect(await project.run(['resume', 'girl.created'])).toMatchObject({ code: 0 });
    const row = await eventually(async () => tables.get(outputs.CastTable, key));
    expect(row).toMatchObject(key);
  });

  test('refuses a second stack with the same state', async () => {
    const second = await project.run([
      'start',
      '--keep',
      '--port',
      '0',
      '--aws-port',
      '0',
      '--console-port',
      '0',
    ]);
    expect(second).toMatchObject({
      code: 1,
      stderr: 'Another stack uses .local/kept: stop it first, or start this one without --keep\n',
    });
  });

  test('is not used by a stack without --keep, which says so', async () => {
    const other = project.start(['start', '--port', '0', '--aws-port', '0', '--console-port', '0']);
    await eventually(async () => (other.stdout().includes('\n') ? true : undefined));
    expect(other.stdout()).toContain('Starting empty. --keep would continue with .local/kept\n');
    other.interrupt();
    await other.ended;
  });

  test('shows earlier deliveries in trace and console, unless the history file is damaged', async () => {
    const { code, stdout } = await project.run(['trace', eventId, '--json']);
    expect(code).toBe(0);
    const { history } = JSON.parse(stdout);
    expect(history.steps.map(({ kind }: { kind: string }) => kind)).toEqual([
      'received',
      'queued',
      'answered',
      'processed',
      'archived',
    ]);
    expect(await listed()).toContain(eventId);
    await kill();
    const file = project.path('.local/kept/history.db');
    expect((await stat(file)).size).toBeGreaterThan(0);
    await writeFile(file, 'damaged');
    await start(OTHER_SECRET);
    expect(await listed()).not.toContain(eventId);
  });
});
