import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { type Ended, freePort, Project } from './project.ts';

const SECRET = 'A0b1C2d3E4f5A6b7';

let project: Project;

beforeAll(async () => {
  project = await Project.create();
});

afterAll(() => project.remove());

const event = (id: string) =>
  JSON.stringify({ event: 'shop.updated', data: { shop_id: id }, timestamp: new Date() });

/** Runs the checker, and posts bodies to it one after the other, with a risky content type. */
async function check(args: readonly string[], bodies: readonly string[]): Promise<Ended> {
  const port = String(await freePort());
  const ended = project.type(['check-sender', '--secret', SECRET, '--port', port, ...args]);
  for (const body of bodies) {
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = { 'content-type': 'text/plain', 'x-webhook-signature': signature };
    const url = `http://127.0.0.1:${port}${WEBHOOK_PATH}`;
    // Until it listens.
    await eventually(() => fetch(url, { method: 'POST', headers, body }).catch(() => undefined));
  }
  return ended;
}

describe('the exit code of check-sender', () => {
  const [one, other] = [event('shop-1'), event('shop-2')];
  test.each([
    { what: 'is 0 for something risky', args: ['--requests', '1'], bodies: [one], code: 0 },
    {
      what: 'is 1 for something risky with --strict',
      args: ['--requests', '1', '--strict'],
      bodies: [one],
      code: 1,
      says: '--strict counts risky as wrong',
    },
    {
      what: 'is 1 if fewer requests arrived before --timeout',
      args: ['--requests', '2', '--timeout', '1'],
      bodies: [],
      code: 1,
      says: 'Only 0 of 2 requests arrived.',
    },
    {
      what: 'is 1 if other deliveries came instead of repeats',
      args: ['--requests', '2', '--play', '500,ok'],
      bodies: [one, other],
      code: 1,
      says: '2 failed deliveries',
    },
  ])('$what', async ({ args, bodies, code, says = '' }) => {
    const ended = await check(args, bodies);
    expect({ code: ended.code, text: ended.stdout + ended.stderr }).toEqual({
      code,
      text: expect.stringContaining(says),
    });
  });
});

test('check-sender says if its own secret is a variable that was not replaced', async () => {
  const args = ['--secret', '$WEBHOOK_SECRET', '--port', '0', '--timeout', '1'];
  const { stderr } = await project.type(['check-sender', ...args]);
  expect(stderr).toContain('looks like a variable that was not replaced');
});
