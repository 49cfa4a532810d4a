import { readFile } from 'node:fs/promises';
import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sharedStack } from '../../../../test/support/shared-stack.ts';
import { dlqDiscard } from '../../../stage/queues/dlq-discard.ts';
import type { MessageFilter } from '../../../stage/queues/selected-messages.ts';
import { Project } from '../../commands/project.ts';
import { DEAD, Operator, refusalOf, shopUpdated } from './support.ts';

let operator: Operator;
let dead: string | undefined;
let project: Project;
let files = 0;

beforeAll(async () => {
  operator = await Operator.create(await sharedStack());
  dead = operator.outputs.ShopUpdatedDeadLetterQueueUrl;
  project = await Project.create();
});
afterAll(async () => {
  await operator.close();
  await project.remove();
});
beforeEach(() => operator.empty());

const newFile = () => {
  files += 1;
  return operator.path(`discarded-${files}.jsonl`);
};

async function discarded(filter: MessageFilter, consent?: Parameters<typeof dlqDiscard>[3]) {
  const { said, reported, ...operation } = operator.operation();
  const done = await dlqDiscard(operation, operator.queue('shop.updated'), filter, consent);
  return { done, said, reported };
}

async function putShops(...shopIds: string[]): Promise<void> {
  for (const shopId of shopIds) {
    await operator.put(dead, shopUpdated(shopId), { ...DEAD, requestId: `request-of-${shopId}` });
  }
}

const linesOf = async (file: string) =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('exports and logs the selected messages, deletes them, and keeps the others', async () => {
  await putShops('shop-1', 'shop-1', 'shop-10');
  const exportTo = newFile();
  const { done, said } = await discarded({ shop: 'shop-1' }, { reason: 'test data, ticket 7', exportTo });
  expect({ done, said }).toEqual({
    done: true,
    said: [
      `1 event, 2 copies on the dead-letter queue of shop.updated in ${operator.stack.title}:`,
      `    1 × ${DEAD.failureReason} (2 copies)`,
      expect.stringMatching(
        /^Discarded 2 messages from the dead-letter queue of shop\.updated in .*, by arn:/,
      ),
    ],
  });
  expect((await linesOf(exportTo)).map(({ body }) => body)).toEqual([
    shopUpdated('shop-1'),
    shopUpdated('shop-1'),
  ]);
  expect((await operator.queues.takeAll(dead)).map(({ Body }) => Body)).toEqual([shopUpdated('shop-10')]);
  const query = {
    logGroupName: operator.outputs.ShopUpdatedLogGroup,
    // Other test files discard messages of this stack, too.
    filterPattern: '{ $.message = "Discarded" && $.reason = "test data, ticket 7" }',
  };
  const { events = [] } = await operator.stack.logs.send(new FilterLogEventsCommand(query));
  const logged = events.map(({ message = '' }) => JSON.parse(message));
  expect(logged).toHaveLength(2);
  expect(logged[0]).toEqual({
    timestamp: expect.any(String),
    level: 'INFO',
    message: 'Discarded',
    queue: 'shop.updated',
    event: 'shop.updated',
    eventId: DEAD.eventId,
    requestId: 'request-of-shop-1',
    messageId: expect.any(String),
    by: expect.stringMatching(/^arn:/),
    reason: 'test data, ticket 7',
  });
});

test('a message whose payload is gone stays if it was to be exported, and is deleted with --no-export', async () => {
  const payloadKey = 'shop.updated/gone';
  await operator.put(dead, JSON.stringify({ payloadKey }), { ...DEAD, payloadKey });
  const { done, said } = await discarded({}, { reason: 'x', exportTo: newFile() });
  expect(done).toBe(false);
  expect(said).toContain('1 message stay: they could not be exported with their payload.');
  expect(await operator.queues.count(dead)).toBe(1);
  expect(await discarded({}, { reason: 'x', exportTo: undefined })).toMatchObject({ done: true });
  expect(await operator.queues.count(dead)).toBe(0);
});

test('nothing is deleted if the export cannot be written, or nothing matches', async () => {
  await putShops('shop-1');
  const refused = await refusalOf(discarded({}, { reason: 'x', exportTo: operator.outputsFile }));
  expect(refused).toBe(`${operator.outputsFile} exists already: name another file, or delete it first`);
  expect(await refusalOf(discarded({ search: 'nobody' }))).toContain('Nothing to discard: no message');
  expect(await operator.queues.count(dead)).toBe(1);
});

test.each([
  { options: [], code: 1, left: 1 },
  { options: ['--reason', 'spam'], code: 1, left: 1 },
  { options: ['--no-export'], code: 1, left: 1 },
  { options: ['--reason', 'a\nb', '--no-export'], code: 2, left: 1 },
  { options: ['--reason', 'spam', '--no-export'], code: 0, left: 0 },
])(
  'the command needs a reason and a decision about the export: $options',
  async ({ options, code, left }) => {
    await putShops('shop-1');
    const typed = ['dlq', 'discard', 'shop.updated', ...options, '--outputs', operator.outputsFile];
    const ended = await project.type(typed);
    expect(ended).toMatchObject({ code });
    if (code === 1)
      expect(ended.stdout).toMatch(/1 × Internal.*\nNothing was discarded\. To discard them, give --reason/);
    expect(await operator.queues.count(dead)).toBe(left);
  },
);
