import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { reasonOf, walk } from '../../../../tools/stage/queues/messages.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Operator } from './support.ts';

let aws: TestAws;
let operator: Operator;
let url: string;

beforeAll(async () => {
  aws = await startTestAws();
  operator = await Operator.create(aws);
  url = operator.queue('shop.updated').url;
});
afterAll(async () => {
  await operator.close();
  await aws.close();
});
beforeEach(() => operator.empty());

const never = new AbortController().signal;
const fill = async (count: number) => {
  for (let number = 0; number < count; number += 1) await operator.put(url, `message ${number}`);
};
const countVisible = async () => {
  let count = 0;
  await walk(operator.stack, url, { signal: never }, async () => {
    count += 1;
    return 'kept';
  });
  return count;
};

describe('a walk over a queue', () => {
  test('visits each message once and leaves all of them visible', async () => {
    await fill(23);
    const visited: string[] = [];
    const result = await walk(operator.stack, url, { signal: never }, async ({ body }) => {
      visited.push(body);
      return 'kept';
    });
    expect(result).toEqual({ seen: 23, undeleted: [], limited: false });
    expect(new Set(visited).size).toBe(23);
    expect(await countVisible()).toBe(23);
  });

  test('deletes what was settled, and only that', async () => {
    await fill(12);
    await walk(operator.stack, url, { signal: never }, async ({ body }) =>
      body.endsWith('1') ? 'settled' : 'kept',
    );
    expect(await countVisible()).toBe(10);
  });

  test('ends at its limit and says so', async () => {
    await fill(15);
    const result = await walk(operator.stack, url, { signal: never, limit: 12 }, async () => 'kept');
    expect(result).toMatchObject({ seen: 12, limited: true });
    expect(await countVisible()).toBe(15);
  });

  test('gives everything back where a visit fails', async () => {
    await fill(3);
    const failing = walk(operator.stack, url, { signal: never }, async ({ body }) => {
      if (body === 'message 1') throw new Error('no');
      return 'kept';
    });
    await expect(failing).rejects.toThrow('no');
    expect(await countVisible()).toBe(3);
  });

  test('gives everything back where it is interrupted, with the page that it has begun done', async () => {
    await fill(15);
    const interruption = new AbortController();
    const { seen } = await walk(operator.stack, url, { signal: interruption.signal }, async () => {
      interruption.abort();
      return 'settled';
    });
    expect(seen).toBe(10);
    expect(await countVisible()).toBe(5);
  });
});

test('a redriven message that SQS moved afterwards does not show its earlier failure', () => {
  const attributes = { failureReason: { DataType: 'String', StringValue: 'the table was away' } };
  const reason = (noted: typeof attributes | object, movedBySqs: boolean) =>
    reasonOf({ attributes: { ...noted }, movedBySqs }, { kind: 'dead-letter' });
  expect(reason(attributes, false)).toBe('the table was away');
  expect(reason(attributes, true)).toMatch(/^SQS moved it after too many receives/);
  expect(reason({}, false)).toMatch(/^SQS moved it after too many receives/);
});
