import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type AwsEndpoint, startAwsEndpoint } from 'local-aws/endpoint';
import { pascalCase } from '../../../../lambda/events/event-names.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { type FunctionName, followLines, functionNames } from '../../../stage/history/follow-facts.ts';
import { Stage } from '../../../stage/stage.ts';
import { replied } from '../queues/support.ts';

const REGION = 'us-east-1';
const SECOND = 1_000;

let endpoint: AwsEndpoint;
let stage: Stage;
let round = 0;

const groupOf = (name: FunctionName) => `${round}-${name}`;

function write(name: FunctionName, message: string, secondsAgo = 0): void {
  const at = Date.now() - secondsAgo * SECOND;
  const line = { timestamp: new Date(at).toISOString(), message, eventId: 'event' };
  endpoint.writeLog(groupOf(name), JSON.stringify(line), at);
}

beforeAll(async () => {
  endpoint = await startAwsEndpoint({ port: 0 });
});
afterAll(() => endpoint.close());

beforeEach(() => {
  round += 1;
  for (const name of functionNames) endpoint.createLogGroup(groupOf(name));
  const groups = functionNames.map((name) => [`${pascalCase(name)}LogGroup`, groupOf(name)]);
  const queue = { QuarantineQueueUrl: `${endpoint.url}/000000000000/quarantine` };
  stage = new Stage('the local stack', { ...queue, ...Object.fromEntries(groups) });
});
afterEach(() => stage.close());

/** Follows until it is disposed of. */
function follow(of = stage) {
  const lines = new Set<string>();
  const problems = new Map<string, string | undefined>();
  const controller = new AbortController();
  const ended = followLines(
    of,
    {
      since: new Date(Date.now() - 60 * SECOND),
      signal: controller.signal,
      onRead: (name, error) => problems.set(name, error?.name),
    },
    (facts) => facts.forEach(({ message }) => void lines.add(message)),
  );
  const stop = () => {
    controller.abort();
    return ended;
  };
  const has = (text: string) => eventually(async () => lines.has(text) || undefined);
  return { lines, problems, has, stop, [Symbol.asyncDispose]: stop };
}

test('lines of all functions come from a start time on, also late, and on several pages', async () => {
  write('receiver', 'too old', 61);
  write('shop.updated', 'first');
  await using following = follow();
  await following.has('first');
  const many = Array.from({ length: 300 }, (_, index) => `${index} ${'x'.repeat(10_000)}`);
  for (const text of many) write('review.posted', text);
  write('shop.updated', 'late', 20);
  await following.has('late');
  await following.has(String(many.at(-1)));
  expect(following.lines).toEqual(new Set(['first', 'late', ...many]));
});

test('throttling costs time, but no line', async () => {
  let requests = 0;
  replied(stage.logs, () => {
    requests += 1;
    if (requests % 3 > 0) return;
    throw Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
  });
  await using following = follow();
  const texts = functionNames.flatMap((name) => [0, 1, 2].map((index) => `${name} ${index}`));
  for (const text of texts) write(text.split(' ')[0] as FunctionName, text);
  await eventually(async () => following.lines.size >= texts.length || undefined);
  expect(following.lines).toEqual(new Set(texts));
});

test('a log that may not be read is reported, while others are followed, until it can be read', async () => {
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
  const others = functionNames.filter((name) => name !== 'receiver');
  permit(...others);
  const credentials = { accessKeyId: 'READER', secretAccessKey: 'any' };
  const logs = new CloudWatchLogsClient({ endpoint: endpoint.url, region: REGION, credentials });
  write('receiver', 'hidden');
  write('shop.updated', 'seen');
  await using following = follow(stage.with({ logs }));
  await following.has('seen');
  const problems = () => [...following.problems].filter(([, problem]) => problem !== undefined);
  expect(problems()).toEqual([['receiver', 'AccessDeniedException']]);
  permit(...functionNames);
  await following.has('hidden');
  await eventually(async () => problems().length === 0 || undefined);
  await following.stop();
  logs.destroy();
});
