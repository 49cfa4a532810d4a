import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { pascalCase } from '../../../../lambda/events/event-names.ts';
import { type AwsEndpoint, startAwsEndpoint } from '../../../../local/aws/endpoint.ts';
import {
  type FollowedLine,
  type FunctionName,
  followLogs,
  functionNames,
} from '../../../../tools/stage/logs/follow.ts';
import { findStackOfFile, type Stage } from '../../../../tools/stage/stage.ts';
import { eventually } from '../../../support/eventually.ts';
import { QuotaGate } from './quota-gate.ts';

const REGION = 'us-east-1';
const POLL = 20;
const SECOND = 1_000;

let endpoint: AwsEndpoint;
let gate: QuotaGate;
let folder: string;
let round = 0;
/** Each test has log groups of its own. */
let stack: Stage;

beforeAll(async () => {
  endpoint = await startAwsEndpoint({ port: 0, region: REGION });
  gate = await QuotaGate.open(endpoint.url);
  folder = await mkdtemp(join(tmpdir(), 'follow-'));
});
afterAll(async () => {
  await gate.close();
  await endpoint.close();
  await rm(folder, { recursive: true });
});

const groupOf = (name: FunctionName) => `${round}-${name}`;
const outputOf = (name: FunctionName) =>
  name === 'receiver' ? 'ReceiverLogGroup' : `${pascalCase(name)}LogGroup`;

const write = (name: FunctionName, text: string, secondsAgo = 0) =>
  endpoint.writeLog(groupOf(name), text, Date.now() - secondsAgo * SECOND);

beforeEach(async () => {
  round += 1;
  gate.quota = Number.POSITIVE_INFINITY;
  for (const name of functionNames) endpoint.createLogGroup(groupOf(name));
  const file = join(folder, `${round}.json`);
  const groups = functionNames.map((name) => [outputOf(name), groupOf(name)]);
  const outputs = { QuarantineQueueUrl: `${gate.url}/000000000000/quarantine` };
  await writeFile(file, JSON.stringify({ stack: { ...outputs, ...Object.fromEntries(groups) } }));
  stack?.close();
  stack = findStackOfFile(file);
});
afterAll(() => stack.close());

/** A client that repeats nothing by itself. */
const clientOf = (accessKeyId: string) =>
  new CloudWatchLogsClient({
    endpoint: gate.url,
    region: REGION,
    maxAttempts: 1,
    credentials: { accessKeyId, secretAccessKey: 'any' },
  });

/** Follows until it is disposed of. */
function follow(options: Partial<Parameters<typeof followLogs>[1]> = {}, of = stack) {
  const lines: FollowedLine[] = [];
  const problems: string[] = [];
  const controller = new AbortController();
  const ended = (async () => {
    const following = followLogs(of, {
      since: new Date(Date.now() - 60 * SECOND),
      pollMilliseconds: POLL,
      signal: controller.signal,
      onProblem: (name, error) => problems.push(`${name}: ${error.name}`),
      ...options,
    });
    for await (const batch of following) lines.push(...batch);
  })();
  return {
    lines,
    problems,
    texts: () => lines.map(({ text }) => text),
    has: (text: string) =>
      eventually(async () => (lines.some((line) => line.text === text) ? true : undefined)),
    stop: () => {
      controller.abort();
      return ended;
    },
    async [Symbol.asyncDispose]() {
      controller.abort();
      await ended;
    },
  };
}

describe('lines', () => {
  test('of all functions come in order of time, from a time on', async () => {
    write('receiver', 'too old', 61);
    write('shop.updated', 'second', 10);
    write('receiver', 'first', 20);
    write('girl.created', 'third', 5);
    await using following = follow();
    await following.has('third');
    expect(following.lines).toEqual([
      { function: 'receiver', at: expect.any(Number), text: 'first' },
      { function: 'shop.updated', at: expect.any(Number), text: 'second' },
      { function: 'girl.created', at: expect.any(Number), text: 'third' },
    ]);
  });

  test('come as they are written, each once', async () => {
    await using following = follow();
    const texts = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    for (const text of texts) {
      write('review.posted', text);
      await sleep(POLL / 2);
    }
    await following.has('line 19');
    await sleep(5 * POLL);
    expect(following.texts()).toEqual(texts);
  });

  test('with the same text and time are as many as were written', async () => {
    write('receiver', 'twin');
    write('receiver', 'twin');
    await using following = follow();
    await following.has('twin');
    expect(following.texts()).toEqual(['twin', 'twin']);
  });

  test('that CloudWatch shows late come all the same, once', async () => {
    write('receiver', 'on time');
    await using following = follow();
    await following.has('on time');
    await sleep(3 * POLL);
    write('receiver', 'late', 20);
    await following.has('late');
    await sleep(5 * POLL);
    expect(following.texts()).toEqual(['on time', 'late']);
  });

  test('of functions that are not asked for stay away', async () => {
    write('receiver', 'other');
    write('shop.updated', 'wanted');
    await using following = follow({ functions: ['shop.updated'] });
    await following.has('wanted');
    expect(following.texts()).toEqual(['wanted']);
  });

  test('that fill several pages come all', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => `${index} ${'x'.repeat(10_000)}`);
    for (const text of texts) write('receiver', text);
    const before = gate.counts.passed;
    await using following = follow({ functions: ['receiver'], pollMilliseconds: 60 * SECOND });
    await following.has(texts.at(-1) ?? '');
    expect(gate.counts.passed - before).toBeGreaterThan(2);
    expect(following.texts()).toEqual(texts);
  });
});

describe('throttling', () => {
  test('in the middle of several pages keeps what came, and goes on where it was', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => `${index} ${'x'.repeat(10_000)}`);
    for (const text of texts) write('receiver', text);
    gate.quota = 1;
    gate.counts.passed = 0;
    await using following = follow({ functions: ['receiver'] });
    await eventually(async () => following.lines.length > 0 || undefined);
    expect(following.lines.length).toBeLessThan(texts.length);
    await following.has(texts.at(-1) ?? '');
    expect(following.texts()).toEqual(texts);
    // From the beginning each time, it would be more, or never end.
    expect(gate.counts.passed).toBeLessThan(6);
  });

  test('by AWS’ quota for the account costs time, and no line', async () => {
    gate.quota = 5;
    gate.counts.throttled = 0;
    await using following = follow();
    for (const name of functionNames) {
      for (let index = 0; index < 3; index += 1) write(name, `${name} ${index}`);
    }
    const expected = functionNames.flatMap((name) => [0, 1, 2].map((index) => `${name} ${index}`));
    await eventually(async () => following.lines.length >= expected.length || undefined);
    expect(gate.counts.throttled).toBeGreaterThan(0);
    expect(following.texts().sort()).toEqual(expected.sort());
    expect(following.problems).toEqual([]);
  });

  test('makes it ask less and less, and at the old pace when it is over', async () => {
    gate.quota = 0;
    gate.counts.throttled = 0;
    const logs = clientOf('operator');
    await using following = follow({ functions: ['receiver'] }, stack.with({ logs }));
    await sleep(2_000);
    // Without a wait that doubles, some ninety.
    expect(gate.counts.throttled).toBeLessThan(10);
    gate.quota = Number.POSITIVE_INFINITY;
    write('receiver', 'after');
    await following.has('after');
    const { passed } = gate.counts;
    // At the pace that it had come to it would take twice as long.
    await eventually(async () => gate.counts.passed > passed + 5 || undefined, { limit: 6_000 });
    logs.destroy();
  });
});

describe('a log that may not be read', () => {
  const permit = (groups: readonly FunctionName[]) =>
    endpoint.addPrincipals([
      {
        name: 'Reader',
        accessKeyId: 'READER',
        statements: groups.map((name) => ({
          Effect: 'Allow',
          Action: 'logs:FilterLogEvents',
          Resource: `arn:aws:logs:${REGION}:000000000000:log-group:${groupOf(name)}:*`,
        })),
      },
    ]);

  test('is told of once, while the others are followed, and is read as soon as it may be', async () => {
    permit(['shop.updated']);
    const logs = clientOf('READER');
    write('receiver', 'hidden');
    write('shop.updated', 'seen');
    await using following = follow({ functions: ['receiver', 'shop.updated'] }, stack.with({ logs }));
    await following.has('seen');
    await sleep(5 * POLL);
    expect(following.problems).toEqual(['receiver: AccessDeniedException']);
    permit(['shop.updated', 'receiver']);
    await following.has('hidden');
    permit(['shop.updated']);
    await eventually(async () => following.problems.length === 2 || undefined);
    logs.destroy();
  });

  test('as the stack does not name it, is told of', async () => {
    const { ReceiverLogGroup: _, ...outputs } = stack.outputs;
    write('shop.updated', 'seen');
    await using following = follow({ functions: ['receiver', 'shop.updated'] }, stack.with({ outputs }));
    await following.has('seen');
    expect(following.problems).toEqual(['receiver: CommandError']);
  });
});

describe('the end', () => {
  test('comes at once while it waits', async () => {
    write('receiver', 'line');
    const following = follow({ pollMilliseconds: 60 * SECOND });
    await following.has('line');
    const begun = performance.now();
    await following.stop();
    expect(performance.now() - begun).toBeLessThan(20 * SECOND);
  });

  test('comes at once while it is throttled', async () => {
    gate.quota = 0;
    const following = follow();
    await sleep(50);
    const begun = performance.now();
    await following.stop();
    expect(performance.now() - begun).toBeLessThan(20 * SECOND);
    expect(following.problems).toEqual([]);
  });
});
