import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { eventually } from '../../../support/eventually.ts';
import { Partner } from '../../../support/partner.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { Project, type Running } from '../../cli/commands/project.ts';
import { Operator } from '../queues/support.ts';

let project: Project;
let stack: LocalStack;
let operator: Operator;
let partner: Partner;

beforeAll(async () => {
  project = await Project.create();
  stack = await startTestStack();
  operator = await Operator.create(stack);
  partner = new Partner(stack.outputs.WebhookUrl);
});
afterAll(async () => {
  await operator.close();
  await stack.close();
  await project.remove();
});

const says = (running: Running, text: RegExp) =>
  eventually(async () => (text.test(running.stdout()) ? true : undefined));

const body = (event: string, data: object) =>
  JSON.stringify({ event, data, timestamp: new Date().toISOString() });

test('deliveries’ lines are said as they are written, until Ctrl-C', async () => {
  const shop = body('shop.updated', { shop_id: 'shop-1' });
  const user = body('user.updated', { user_id: 'user-1', shop_id: 'shop-1' });
  const { body: answer } = await partner.post(user);
  const eventId = String(answer.eventId);
  const of = (...args: string[]) => project.start(['tail', '--outputs', operator.outputsFile, ...args]);
  const one = of('--since', '5m', '--event', 'shop.updated');
  const other = of('--since', '5m', '--json', '--id', eventId.slice(0, 8));
  await says(other, /"message":"Processed"/);
  await partner.post(shop);
  await says(one, /shop-updated +INFO +Processed/);
  one.interrupt();
  other.interrupt();
  const [ended, endedOther] = await Promise.all([one.ended, other.ended]);

  expect(ended).toMatchObject({
    code: 0,
    stderr: `Following the stack of ${operator.outputsFile}. Ctrl-C ends it.\n`,
  });
  const lines = ended.stdout.trimEnd().split('\n');
  expect(lines.map((line) => /^\d\d:\d\d:\d\d (\S+) +INFO +(\S+)/.exec(line)?.slice(1))).toEqual([
    ['receiver', 'Accepted'],
    ['shop-updated', 'Processed'],
  ]);
  const json = endedOther.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(json.map(({ service, message }) => [service, message])).toEqual([
    ['receiver', 'Accepted'],
    ['user-updated', 'Processed'],
  ]);
  expect(json.every((line) => line.eventId === eventId)).toBe(true);
});

describe('what it cannot do it says in one line, and exits with 1', () => {
  test.concurrent.each([
    { args: ['--id', 'abc'], line: /^No log line can have the id 'abc'/ },
    {
      args: ['--event', 'shop.closed'],
      line: /^Option '--event <event>' argument 'shop\.closed' is invalid/,
    },
    { args: [], line: /^The local stack is not running\. Start it with: npm start$/ },
  ])('$args', async ({ args, line }) => {
    const { code, stdout, stderr } = await project.run([
      'tail',
      ...args,
      ...(args.length > 0 ? ['--outputs', operator.outputsFile] : []),
    ]);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 1, stdout: '', lines: 2 });
    expect(stderr.trimEnd()).toMatch(line);
  });
});
