import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AwsEndpoint, startAwsEndpoint } from 'local-aws/endpoint';
import { pascalCase } from '../../../../lambda/events/event-names.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { type FunctionName, followLines, functionNames } from '../../../stage/history/follow-facts.ts';
import { jsonOf } from '../../../stage/history/json.ts';
import { findStackOfFile, type Stage } from '../../../stage/stage.ts';
import { Project } from '../../commands/project.ts';
import { replied } from '../queues/support.ts';

let project: Project;
beforeAll(async () => {
  project = await Project.create();
});
afterAll(() => project.remove());

describe('following logs', () => {
  const REGION = 'us-east-1';
  const POLL = 20;
  const SECOND = 1_000;

  let endpoint: AwsEndpoint;
  let round = 0;
  let stack: Stage;
  /** Whether to throttle the n-th request for log lines. */
  let isThrottled: (request: number) => boolean;
  let counts: { passed: number; throttled: number };

  beforeAll(async () => {
    endpoint = await startAwsEndpoint({ port: 0 });
  });
  afterAll(async () => {
    stack.close();
    await endpoint.close();
  });

  const groupOf = (name: FunctionName) => `${round}-${name}`;
  const outputOf = (name: FunctionName) =>
    name === 'receiver' ? 'ReceiverLogGroup' : `${pascalCase(name)}LogGroup`;
  const write = (name: FunctionName, message: string, secondsAgo = 0) => {
    const at = Date.now() - secondsAgo * SECOND;
    const line = { timestamp: new Date(at).toISOString(), message, eventId: 'event' };
    endpoint.writeLog(groupOf(name), JSON.stringify(line), at);
  };

  beforeEach(() => {
    round += 1;
    isThrottled = () => false;
    counts = { passed: 0, throttled: 0 };
    for (const name of functionNames) endpoint.createLogGroup(groupOf(name));
    const groups = functionNames.map((name) => [outputOf(name), groupOf(name)]);
    const outputs = { QuarantineQueueUrl: `${endpoint.url}/000000000000/quarantine` };
    const file = project.path('followed.json');
    writeFileSync(file, JSON.stringify({ stack: { ...outputs, ...Object.fromEntries(groups) } }));
    stack?.close();
    const found = findStackOfFile(file);
    replied(found.logs, () => {
      const throttled = isThrottled(counts.passed + counts.throttled + 1);
      counts[throttled ? 'throttled' : 'passed'] += 1;
      if (throttled) throw Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
    });
    stack = found;
  });

  /** Follows until it is disposed of. */
  function follow(options: Partial<Parameters<typeof followLines>[1]> = {}, of = stack) {
    const lines: string[] = [];
    const problems: string[] = [];
    const controller = new AbortController();
    const ended = followLines(
      of,
      {
        since: new Date(Date.now() - 60 * SECOND),
        pollMilliseconds: POLL,
        signal: controller.signal,
        onProblem: (name, error) => problems.push(`${name}: ${error?.name ?? 'readable again'}`),
        ...options,
      },
      (facts) => lines.push(...facts.map(({ text }) => String(Object(jsonOf(text)).message))),
    );
    const texts = () => lines;
    const stop = () => {
      controller.abort();
      return ended;
    };
    const has = (text: string) => eventually(async () => texts().includes(text) || undefined);
    return { lines, problems, texts, has, stop, [Symbol.asyncDispose]: stop };
  }

  describe('lines', () => {
    test('of all functions are in order of time, from a start time on', async () => {
      write('receiver', 'too old', 61);
      write('shop.updated', 'second', 10);
      write('receiver', 'first', 20);
      write('girl.created', 'third', 5);
      await using following = follow();
      await following.has('third');
      expect(following.texts()).toEqual(['first', 'second', 'third']);
    });

    test('come once as they are written, also with equal text and time', async () => {
      await using following = follow();
      const texts = Array.from({ length: 20 }, (_, index) => `line ${index}`);
      for (const text of texts) {
        write('review.posted', text);
        await sleep(POLL / 2);
      }
      for (let twin = 0; twin < 2; twin += 1) write('review.posted', 'twin');
      await following.has('twin');
      await sleep(5 * POLL);
      expect(following.texts()).toEqual([...texts, 'twin', 'twin']);
    });

    test('that CloudWatch shows late are still printed once', async () => {
      write('receiver', 'on time');
      await using following = follow();
      await following.has('on time');
      await sleep(3 * POLL);
      write('receiver', 'late', 20);
      await following.has('late');
      await sleep(5 * POLL);
      expect(following.texts()).toEqual(['on time', 'late']);
    });

    test('on several pages are all printed, and a throttled page is read again', async () => {
      const texts = Array.from({ length: 300 }, (_, index) => `${index} ${'x'.repeat(10_000)}`);
      for (const text of texts) write('receiver', text);
      isThrottled = (request) => request % 2 === 0;
      await using following = follow({ functions: ['receiver'] });
      await following.has(texts.at(-1) ?? '');
      expect(following.texts()).toEqual(texts);
      // Each page is read once: starting again after a throttled request would need more requests.
      expect(counts.passed).toBeGreaterThan(2);
      expect(counts.passed).toBeLessThan(8);
    });
  });

  describe('throttling', () => {
    test('by AWS’ quota for the account costs time, but no line', async () => {
      isThrottled = (request) => request % 6 === 0;
      await using following = follow();
      const expected = functionNames.flatMap((name) => [0, 1, 2].map((index) => `${name} ${index}`));
      for (const text of expected) write(text.split(' ')[0] as FunctionName, text);
      await eventually(async () => following.lines.length >= expected.length || undefined);
      expect(counts.throttled).toBeGreaterThan(0);
      expect(following.texts().sort()).toEqual(expected.sort());
      expect(following.problems).toEqual([]);
    });

    test('slows the requests down, until it is over', async () => {
      isThrottled = () => true;
      await using following = follow({ functions: ['receiver'] });
      await sleep(600);
      // Without a wait that doubles, about thirty requests would be throttled.
      expect(counts.throttled).toBeLessThan(10);
      isThrottled = () => false;
      write('receiver', 'after');
      await following.has('after');
      const { passed } = counts;
      // At the slowed pace it would take longer.
      await eventually(async () => counts.passed > passed + 5 || undefined, { limit: 3_000 });
    });
  });

  describe('a log that may not be read', () => {
    const permit = (...groups: readonly FunctionName[]) =>
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

    test('is reported once, while the others are followed, and is read as soon as it is allowed', async () => {
      permit('shop.updated');
      const credentials = { accessKeyId: 'READER', secretAccessKey: 'any' };
      const logs = new CloudWatchLogsClient({ endpoint: endpoint.url, region: REGION, credentials });
      write('receiver', 'hidden');
      write('shop.updated', 'seen');
      await using following = follow({ functions: ['receiver', 'shop.updated'] }, stack.with({ logs }));
      await following.has('seen');
      await sleep(5 * POLL);
      expect(following.problems).toEqual(['receiver: AccessDeniedException']);
      permit('shop.updated', 'receiver');
      await following.has('hidden');
      expect(following.problems.at(-1)).toBe('receiver: readable again');
      permit('shop.updated');
      await eventually(async () => following.problems.length === 3 || undefined);
      await following.stop();
      logs.destroy();
    });

    test('is reported if the stack does not name it', async () => {
      const { ReceiverLogGroup: _, ...outputs } = stack.outputs;
      write('shop.updated', 'seen');
      await using following = follow({ functions: ['receiver', 'shop.updated'] }, stack.with({ outputs }));
      await following.has('seen');
      expect(following.problems).toEqual(['receiver: CommandError']);
    });
  });

  test('is stopped at once while it waits or is throttled', async () => {
    write('receiver', 'line');
    const following = follow({ pollMilliseconds: 60 * SECOND });
    await following.has('line');
    const begun = performance.now();
    await following.stop();
    isThrottled = () => true;
    const throttled = follow({ pollMilliseconds: 60 * SECOND });
    await eventually(async () => counts.throttled > 0 || undefined);
    await throttled.stop();
    expect(performance.now() - begun).toBeLessThan(20 * SECOND);
    expect(throttled.problems).toEqual([]);
  });
});
