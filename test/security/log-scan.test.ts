import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DeleteTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { DeleteQueueCommand, ListQueuesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import type { FunctionLogLine } from 'local-aws/invocation';
import { logFilter } from 'local-aws/log-filter';
import { readSamples } from '../../events/samples.ts';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import * as logMessages from '../../lambda/log-messages.ts';
import { metrics } from '../../lambda/metric-names.ts';
import { probesOf } from '../../lambda/smoke-test/probes.ts';
import { INVOCATION_FAILED } from '../../lib/alarms/log-patterns.ts';
import { FunctionLines } from '../lambda/function-lines.ts';
import { stageAssembly, stageTemplate } from '../lib/stage-assembly.ts';
import { eventually } from '../support/eventually.ts';
import { signBody } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { startTestStack } from '../support/test-stack.ts';

const SECRET = 'secret-that-must-not-show';

/** Personal values. Every payload below consists of them. */
const personal = {
  name: 'Yamada-Hanako-4711',
  kanji: '山田花子四七',
  comment: 'a comment that only she wrote',
  url: 'https://images.example/hanako-4711.png',
  shop: 'shop-of-hanako-4711',
  girl: 'girl-id-4711',
  user: 'user-id-4711',
  review: 'review-id-4711',
  webhook: 'webhook-id-4711',
  kind: 'kind.of-hanako-4711',
  key: 'key-of-hanako-4711',
};
const { name, kanji, comment, url, shop, girl, user, review, webhook, kind, key } = personal;

const timestamp = '2026-01-31T09:00:00Z';
const event = (kindOfEvent: unknown, data: unknown, more = {}) =>
  JSON.stringify({ event: kindOfEvent, data, timestamp, webhookId: webhook, [key]: comment, ...more });
const userUpdated = event('user.updated', {
  user_id: user,
  shop_id: shop,
  display_name: kanji,
  profile_image_url: url,
});
const reviewPosted = event('review.posted', { review_id: review, shop_id: shop, name, rating: 1, comment });
const LARGE = 1_100_000;

/** Readable forms of a text: the text itself, its JSON escapes, and its base64 at each offset. */
function formsOf(text: string): string[] {
  const escaped = text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.from('\0'.repeat(offset) + text)
      .toString('base64')
      // The digits at the ends depend on the surrounding text.
      .slice(offset === 0 ? 0 : 4)
      .replace(/.{0,3}=*$/, ''),
  );
  return [text, escaped, encodeURIComponent(text), Buffer.from(text).toString('hex'), ...base64];
}

const template = await stageTemplate('every-setting');
const forbidden = new Set([...Object.values(personal), SECRET].flatMap(formsOf));
const lines: string[] = [];
const parsed = new FunctionLines();
const answers: string[] = [];
const accepted: { eventId: string; requestId: string }[] = [];
/** Ids of events that no request brought. */
const sentByHand = new Set<string>();
let stack: LocalStack;
let queues: Queues;

/**
 * Posts as the partner or as an attacker, and stores the whole answer.
 * @returns its status
 */
async function post(body: string | Uint8Array, signature: string | undefined = sign(body)): Promise<number> {
  for (const value of [signature, sign(body)]) if (value.length > 20) forbidden.add(value);
  const response = await fetch(stack.outputs.WebhookUrl ?? '', {
    method: 'POST',
    headers: {
      'content-type': 'application/octet-stream',
      'x-webhook-signature': signature,
      'user-agent': name,
      'x-request-id': comment,
    },
    body: Buffer.from(body),
  });
  const text = await response.text();
  answers.push(JSON.stringify([...response.headers]) + text);
  const answer = JSON.parse(text);
  if (response.status === 200) accepted.push(answer);
  return response.status;
}

/** A sample's data in which every text is personal. */
const personalised = (data: unknown) =>
  JSON.parse(JSON.stringify(data), (_key, value) => (typeof value === 'string' ? comment : value));

const hash = (body: string) => createHash('sha256').update(body).digest('hex');
const sign = (body: string | Uint8Array) => signBody(body, SECRET);
const logged = (...outcomes: string[]) =>
  eventually(async () => (outcomes.every((outcome) => linesOf(outcome).length > 0) ? true : undefined));
const linesOf = (outcome: string) => lines.filter((line) => line.includes(`"message":"${outcome}"`));

async function deliverAll(): Promise<void> {
  const { outputs, operator } = stack;
  // Accepted and processed. Twice, so that some are duplicates.
  for (const body of [
    event('shop.updated', { shop_id: shop, name, updated_fields: [name, kanji] }),
    event('girl.schedule_changed', { shop_id: shop, girl_id: girl, name }),
    event('girl.created', { girl_id: girl, shop_id: shop, name: kanji, [key]: comment }),
    event('girl.deleted', { girl_id: girl, shop_id: shop }),
    reviewPosted,
    userUpdated,
    event('girl.created', { girl_id: girl, name, notes: comment.repeat(LARGE / comment.length) }),
    ...readSamples().map((sample) => event(sample.event, personalised(sample.payload.data))),
  ]) {
    expect(await post(body)).toBe(200);
    expect(await post(body)).toBe(200);
  }
  // Stale.
  await eventually(async () => linesOf('Processed').find((line) => line.includes(hash(userUpdated))));
  const older = { timestamp: '2026-01-30T09:00:00Z' };
  expect(await post(event('user.updated', { user_id: user, display_name: kanji }, older))).toBe(200);
  // Parked.
  expect(await post(event(kind, { name }))).toBe(200);
  expect(await post(event(kind, { name: comment.repeat(LARGE / comment.length) }))).toBe(200);
  // Ignored.
  expect(await post(event('menu.updated', { name }))).toBe(200);
  // Unusable.
  for (const body of [
    `{"event":"${name}`,
    JSON.stringify(comment),
    `[${comment.repeat(LARGE / comment.length)}`,
    event(name, comment),
    event({ [name]: kanji }, { user_id: user }),
    event('user.updated', { user_id: { [name]: kanji }, display_name: [comment], [key]: url }),
    event('girl.created', { girl_id: true, name }, { timestamp: comment }),
  ]) {
    expect(await post(body)).toBe(400);
  }
  // Rejected, at first with a cached secret.
  const heal = stack.faults.inject({ service: 'secretsmanager', kind: 'throttled' });
  expect(await post(userUpdated, signBody(userUpdated, kanji))).toBe(401);
  heal();
  for (const signature of [
    SECRET,
    comment,
    signBody(userUpdated, name),
    `${sign(userUpdated)}, ${sign(userUpdated)}`,
    Buffer.from(sign(userUpdated)).toString('base64'),
  ]) {
    expect(await post(userUpdated, signature)).toBe(401);
  }
  // Dead letters: not an event, of another queue, without its payload.
  for (const MessageBody of [comment, `{"event":"${name}"`, reviewPosted]) {
    sentByHand.add(hash(MessageBody));
    await queues.client.send(new SendMessageCommand({ QueueUrl: outputs.UserUpdatedQueueUrl, MessageBody }));
  }
  const withoutPayload = JSON.stringify({ payloadKey: name });
  sentByHand.add(hash(withoutPayload));
  await queues.client.send(
    new SendMessageCommand({
      QueueUrl: outputs.ShopUpdatedQueueUrl,
      MessageBody: withoutPayload,
      MessageAttributes: { payloadKey: { DataType: 'String', StringValue: 'shop.updated/gone' } },
    }),
  );
  expect(await post(event('shop.updated', { shop_id: shop }, { timestamp: '2999-01-01T00:00:00Z' }))).toBe(
    200,
  );
  // A field that no item can hold.
  const tooLarge = event('user.updated', { user_id: `${user}-2`, display_name: name.repeat(30_000) });
  expect(await post(tooLarge)).toBe(200);
  await logged(
    'Accepted',
    'Parked',
    'Unusable',
    'Rejected',
    'Processed',
    'Stale',
    'Duplicate',
    'ClockAhead',
    'FieldLeftOut',
  );
  await eventually(async () => (linesOf('DeadLettered').length === 4 ? true : undefined));

  // Failures of the consumers.
  await new DynamoDBClient(operator).send(new DeleteTableCommand({ TableName: outputs.CastTable }));
  await new SNSClient(operator).send(new DeleteTopicCommand({ TopicArn: outputs.ReviewTopicArn }));
  expect(await post(event('girl.created', { girl_id: girl, name, comment }))).toBe(200);
  expect(await post(event('review.posted', { review_id: review, name, comment: `${comment} again` }))).toBe(
    200,
  );
  await eventually(async () => (linesOf('Failed').length >= 2 ? true : undefined));

  // Failures of the receiver: no queue, no quarantine, no secret.
  for (const QueueUrl of [outputs.UserUpdatedQueueUrl, outputs.QuarantineQueueUrl]) {
    await queues.client.send(new DeleteQueueCommand({ QueueUrl }));
  }
  expect(await post(userUpdated)).toBe(500);
  expect(await post(`{"event":"${comment}`)).toBe(500);
  await new SecretsManagerClient(operator).send(
    new DeleteSecretCommand({ SecretId: outputs.WebhookSecretArn, ForceDeleteWithoutRecovery: true }),
  );
  await stack.functions.get('receiver')?.kill();
  expect(await post(userUpdated)).toBe(500);
  await logged('ServerError');
}

function onLog(line: FunctionLogLine): void {
  lines.push(line.text);
  parsed.add(line);
}

/** @returns what is wrong with the answers to the smoke test's probes, and what it left: lines, metrics, messages */
async function runSmokeTest() {
  const arnOf = (service: string) => `arn:aws:lambda:eu-central-1:111122223333:function:${service}:1`;
  const given = { Receiver: arnOf('receiver'), Consumers: eventNames.map(kebabCase).map(arnOf) };
  const problems: unknown[] = [];
  for (const { functionArn, makeEvent, judge } of probesOf(given, async () => SECRET)) {
    const service = functionArn.split(':').at(-2) ?? '';
    const result = await stack.functions.get(service)?.invoke(await makeEvent());
    const problem = result?.ok ? judge(result.payload) : { service, result };
    if (problem) problems.push(problem);
  }
  lines.length = 0;
  const { QueueUrls = [] } = await queues.client.send(new ListQueuesCommand({}));
  const counts = await Promise.all(QueueUrls.map((url) => queues.count(url)));
  // Its next instance may read the secret again after a wrong signature.
  await stack.functions.get('receiver')?.kill();
  return {
    problems,
    lines: parsed.logged.splice(0),
    metrics: parsed.metrics.splice(0),
    filled: QueueUrls.filter((_, index) => counts[index] !== 0),
  };
}

let smokeTest: Awaited<ReturnType<typeof runSmokeTest>>;
beforeAll(async () => {
  stack = await startTestStack({
    // With a key of its own, which everything must be able to use.
    assembly: await stageAssembly('encrypted'),
    secret: SECRET,
    environment: { IGNORED_EVENTS: '["menu.updated"]' },
    onLog,
    onProblem: () => {},
  });
  queues = new Queues(stack.operator);
  smokeTest = await runSmokeTest();
  await deliverAll();
});
afterAll(() => stack.close());

/** The forbidden texts found, each with a part of its context. */
const leaksIn = (texts: readonly string[]) =>
  texts.flatMap((text) =>
    [...forbidden].filter((form) => text.includes(form)).map((form) => ({ form, text: text.slice(0, 300) })),
  );

describe('deliveries of every kind with personal data', () => {
  test('name request and event in each line of the receiver', () => {
    const ofReceiver = parsed.of('receiver');
    expect(ofReceiver.length).toBeGreaterThan(30);
    const ids = { requestId: expect.any(String), eventId: expect.stringMatching(/^[0-9a-f]{64}$/) };
    for (const line of ofReceiver) expect(line).toMatchObject(ids);
  });

  test.each(eventNames)('say in each line of the consumer of %s which delivery it is about', (name) => {
    const ofConsumer = parsed.of(kebabCase(name));
    expect(ofConsumer).not.toEqual([]);
    const keys = { event: name, messageId: expect.any(String), attempt: expect.any(Number) };
    for (const line of ofConsumer) expect(line).toMatchObject(keys);
    const delivered = accepted.map(({ eventId, requestId }) => `${eventId} ${requestId}`);
    const strange = ofConsumer.filter(
      ({ eventId, requestId }) =>
        !(requestId === undefined
          ? sentByHand.has(String(eventId))
          : delivered.includes(`${eventId} ${requestId}`)),
    );
    expect(strange).toEqual([]);
  });

  test('are counted by known metrics, each with its dimensions', () => {
    for (const { name: metric, dimensions } of parsed.metrics) {
      const expected = metrics[metric as keyof typeof metrics];
      expect([metric, Object.keys(dimensions).sort()]).toEqual([metric, ['service', ...expected].sort()]);
    }
    const counted = new Set(parsed.metrics.map(({ name: metric }) => metric));
    // Metrics that need a replay, a missing archive or queue, or a lost answer. The consumers' tests cover these
    // metrics.
    const elsewhere = ['Replayed', 'NotArchived', 'DeadLetterNotSent', 'RetryNotDelayed', 'PossiblyRepeated'];
    expect(Object.keys(metrics).filter((metric) => !counted.has(metric))).toEqual(elsewhere);
  });

  test('leave no secret, signature or personal data in any line', () => {
    expect(leaksIn(lines)).toEqual([]);
  });

  test('leave stacks of errors with only places in our sources and package names', () => {
    const place = /^(lambda\/[a-z/-]+\.ts:\d+( in (new )?[\w.#]+)?|node_modules\/[@\w/.-]+)$/;
    const failures = parsed.logged.filter(({ level, error }) => level === 'ERROR' || error !== undefined);
    expect(failures.length).toBeGreaterThanOrEqual(10);
    for (const { stack, service } of failures) {
      expect(stack).toEqual((stack as string[]).map(() => expect.stringMatching(place)));
      // From the failed call through each `await` to the start.
      const start = service === 'receiver' ? 'lambda/receiver/receive.ts' : 'lambda/consumer/consume.ts';
      expect(stack).toContainEqual(expect.stringContaining(`${start}:`));
    }
  });

  test('do not appear in answers', () => {
    expect(leaksIn(answers)).toEqual([]);
  });

  test('do not appear in the reasons of dead letters', async () => {
    const urls = [stack.outputs.UserUpdatedDeadLetterQueueUrl, stack.outputs.ShopUpdatedDeadLetterQueueUrl];
    const messages = (await Promise.all(urls.map((queueUrl) => queues.receive(queueUrl)))).flat();
    const reasons = messages.map(
      ({ MessageAttributes }) => MessageAttributes?.failureReason?.StringValue ?? '',
    );
    expect(new Set(reasons).size).toBe(3);
    expect(leaksIn(reasons)).toEqual([]);
  });
});

test('the smoke test gets a rejection and an accepted event, which no metric counts and no consumer sees', () => {
  expect(smokeTest).toEqual({
    problems: [],
    lines: ['Rejected', 'Accepted'].map((outcome) =>
      expect.objectContaining({
        message: logMessages.SMOKE_TEST,
        outcome,
        requestId: expect.stringMatching(/^smoke-test-/),
      }),
    ),
    metrics: [],
    filled: [expect.stringContaining('SmokeTestQueue')],
  });
  expect(smokeTest.lines.filter((line) => 'eventId' in line)).toEqual([]);
});

/** The text of a property in which CloudFormation inserts names. */
const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : ((value as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join']?.[1] ?? [])
        .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
        .join('');

/** Whether the functions write that log. */
const isOfFunctions = (logGroup: string) => /Receiver|Consumer/.test(logGroup);

const filters = template
  .ofType('AWS::Logs::MetricFilter')
  .filter(({ properties }) => isOfFunctions(JSON.stringify(properties.LogGroupName)))
  .map(({ properties }): string => properties.FilterPattern);

const links = template
  .ofType('AWS::CloudWatch::Alarm')
  .flatMap(({ properties }) => [
    ...textOf(properties.AlarmDescription).matchAll(
      /log-groups\/log-group\/(\S+?)\/log-events\$3FfilterPattern\$3D(\S+)\$26start/g,
    ),
  ])
  .filter(([, logGroup = '']) => isOfFunctions(logGroup))
  .map(([, , pattern = '']) => decodeURIComponent(decodeURIComponent(pattern.replaceAll('$', '%'))));

const documented = globSync('docs/*.md')
  .flatMap((file) => [
    ...readFileSync(file, 'utf8').matchAll(/"\$\(log_of (\w+)\)".*--filter-pattern '(.+)'/g),
  ])
  .filter(([, logGroup = '']) => isOfFunctions(logGroup))
  // The name of a replay is an example.
  .map(([, , pattern = '']) => pattern.replace(/\$\.replay = "[\w-]+" && /, ''));

test.each([
  { kind: 'metric filter', patterns: filters },
  { kind: 'link of an alarm', patterns: links },
  { kind: 'document', patterns: documented },
])('each filter pattern of a $kind finds a line that the functions wrote', ({ patterns }) => {
  expect(patterns).not.toEqual([]);
  // Lambda itself writes these lines, and the local stack writes others.
  const ours = new Set(patterns.filter((pattern) => pattern !== INVOCATION_FAILED));
  // The alternatives of each pattern, because an alternative that finds nothing would hide behind the others.
  const alternatives = [...ours].flatMap((pattern) =>
    pattern.includes('(')
      ? [pattern]
      : pattern
          .slice(1, -1)
          .split('||')
          .map((part) => `{ ${part} }`),
  );
  expect(alternatives.filter((pattern) => !lines.some(logFilter(pattern)))).toEqual([]);
});
