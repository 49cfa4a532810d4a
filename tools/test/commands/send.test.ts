import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.ts';
import { Partner } from '../../../test/support/partner.ts';
import type { Trace } from '../../stage/history/trace.ts';
import { startTestConsole, type TestConsole } from '../console/support.ts';
import { type Ended, Project, refusal } from './project.ts';

let project: Project;
let running: TestConsole;

beforeAll(async () => {
  running = await startTestConsole();
  // After two rotations, the original secret is not the previous one either. The receiver has not read any of them.
  for (const secret of ['rotated', 'rotated again']) await rotate(secret);
  project = await Project.create();
  const { name, outputs } = running.stack;
  await writeFile(project.path('.local/outputs.json'), JSON.stringify({ [name]: outputs }));
  await writeFile(project.path('.local/console.json'), JSON.stringify({ url: running.console.url }));
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await project.remove();
});

const send = (...args: string[]) => project.type(['send', ...args]);
const accepted = { code: 0, stdout: expect.stringMatching(/^200 queued /), stderr: '' };

const answerOf = ({ stdout }: Ended): { status: number; body: Record<string, unknown>; trace: Trace } =>
  JSON.parse(stdout);

async function rotate(secret: string): Promise<void> {
  const client = new SecretsManagerClient(running.stack.operator);
  const SecretId = running.stack.outputs.WebhookSecretArn;
  await client.send(new PutSecretValueCommand({ SecretId, SecretString: secret }));
  client.destroy();
}

describe('send', () => {
  test('signs with the current secret of the stack', async () => {
    expect(await send('shop.updated')).toEqual(accepted);
  });

  test('says that the stack does not have an event yet, and sends nothing', async () => {
    const file = '.local/older.json';
    const { ShopUpdatedQueueUrl: _missing, ...outputs } = running.stack.outputs;
    await writeFile(project.path(file), JSON.stringify({ [running.stack.name]: outputs }));
    expect(await send('shop.updated', '--outputs', file)).toEqual(
      refusal(
        `shop.updated is not deployed yet in the stack of ${file} at ${new URL(outputs.QuarantineQueueUrl ?? '').origin}. Deploy the stack. Then send it again`,
      ),
    );
  });

  test('exits with 1 if a delivery is refused, and says that a rotation needs time, if there was one just now', async () => {
    expect(await send('shop.updated', '--secret', 'another')).toEqual({
      code: 1,
      stdout: expect.stringMatching(
        /^401 .*\nThe secret was changed .+ ago\.\nA running receiver may answer 401 to the new secret for up to 30 s\. Send it again then\.\n$/,
      ),
      stderr: '',
    });
  });

  test('sends the bytes of a file unchanged', async () => {
    const file = 'events/user-updated.json';
    const eventId = createHash('sha256').update(readFileSync(file)).digest('hex');
    expect(answerOf(await send('--json', '--file', file))).toEqual({
      status: 200,
      body: expect.objectContaining({ status: 'queued', eventId }),
    });
  });

  test('sends what it reads from standard input with --file -', async () => {
    const { process, ended } = project.start(['send', '--file', '-']);
    process.stdin?.end(readFileSync('events/shop-updated.json'));
    expect(await ended).toEqual(accepted);
  });
});

describe('send --wait', () => {
  test('prints the history and the effect when the delivery has settled', async () => {
    const { code, stdout, stderr } = await send('girl.created', '--wait');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^200 queued {2}event [0-9a-f]{64} {2}request \S+\n\ngirl\.created /);
    expect(stdout).toMatch(/\nProcessed: Finished at \S+\.\nCastTable: girl_id=\S+ /);
  });

  test('returns the history for programs, without another delivery of the same bytes', async () => {
    const again = ['--json', '--file', 'events/shop-updated.json', '--wait'];
    const sent = [await send(...again), await send(...again)];
    expect(sent).toMatchObject([{ code: 0 }, { code: 0 }]);
    for (const { body, trace } of sent.map(answerOf)) {
      const now = [{ state: expect.stringMatching(/^(processed|skipped)$/) }];
      expect(trace.history).toMatchObject({ eventId: body.eventId, now });
      expect(new Set(trace.history.steps.map(({ requestId }) => requestId))).toEqual(
        new Set([body.requestId]),
      );
    }
  });

  test('names a delivery that is still on its way after the time limit', async () => {
    running.stack.faults.inject({ service: 'dynamodb', kind: 'slow', milliseconds: 3_000 });
    const { code, stdout } = await send('girl.deleted', '--wait', '1');
    running.stack.faults.clear();
    expect(code).toBe(1);
    expect(stdout).toMatch(/\nIt has not settled after 1 s\.\n$/);
  });
});

test('send --again sends the bytes of the payload bucket again', async () => {
  const partner = new Partner(running.stack.outputs.WebhookUrl);
  const data = { user_id: 'user-1', display_name: 'Aiko', notes: 'x'.repeat(1_200_000) };
  const { body } = await partner.post(
    { event: 'user.updated', data, timestamp: new Date().toISOString() },
    { secret: 'rotated again' },
  );
  const again = ['--again', String(body.requestId).slice(0, 8), '--wait'];
  const { code, stdout, stderr } = await eventually(async () => {
    const ended = await send(...again);
    return ended.stderr.includes('are not stored') ? undefined : ended;
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Sending event [0-9a-f]{64} \(user\.updated, \d+ bytes\) again, from the archive\.\n200 queued /,
  );
  expect(stdout).toContain(` event ${body.eventId} `);
  expect(stdout).toMatch(/\nSkipped: This event was processed before\.\n/);
});
