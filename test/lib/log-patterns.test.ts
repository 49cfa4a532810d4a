import { globSync, readFileSync } from 'node:fs';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { logFilter } from 'local-aws/endpoint';
import { readSamples } from '../../events/samples.ts';
import { eventNames } from '../../lambda/events/catalogue.ts';
import * as logMessages from '../../lambda/log-messages.ts';
import { INVOCATION_FAILED } from '../../lib/alarms/log-patterns.ts';
import { eventually } from '../support/eventually.ts';
import { Partner } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { startTestStack } from '../support/test-stack.ts';
import { stageTemplate } from './stage-assembly.ts';

/**
 * Milliseconds until a function must have written a line. On a busy machine, a run can exceed its timeout, and its
 * message returns after the queue's visibility timeout, which is three minutes.
 */
const LINE_LIMIT = 600_000;

const template = await stageTemplate('every-setting');
/** What the receiver and the consumers wrote. */
const lines: string[] = [];
const parsed = () =>
  lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as { message?: unknown }] : []));
let stack: LocalStack;

beforeAll(async () => {
  stack = await startTestStack({ onLog: ({ text }) => lines.push(text), onProblem: () => {} });
  const partner = new Partner(stack.outputs.WebhookUrl);
  const samples = readSamples();
  const logged = (message: string, times = 1) =>
    eventually(async () => parsed().filter((line) => line.message === message).length >= times || undefined, {
      limit: LINE_LIMIT,
    });
  const older = { timestamp: '2026-01-01T00:00:00Z' };

  for (const { payload } of samples) await partner.post(payload);
  await logged(logMessages.PROCESSED, samples.length);
  const [user] = samples.filter(({ event }) => event === 'user.updated');
  await partner.post(user?.payload);
  await partner.post({ ...user?.payload, ...older });
  await partner.post({ ...older, event: 'example.unknown', data: {} });
  await partner.post('[]');
  await new Queues(stack.operator).client.send(
    new SendMessageCommand({ QueueUrl: stack.outputs.ShopUpdatedQueueUrl, MessageBody: '[]' }),
  );
  await logged(logMessages.DUPLICATE);
  await logged(logMessages.STALE);
  await logged(logMessages.DEAD_LETTERED);

  stack.faults.inject({ service: 'secretsmanager', kind: 'throttled' });
  await partner.post(user?.payload, { secret: 'wrong' });
  stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
  for (const { payload } of samples) await partner.post({ ...payload, webhookId: 'again' });
  await logged(logMessages.FAILED, samples.length);
  stack.faults.inject({ service: 'sqs', kind: 'throttled', operation: 'SendMessage' });
  await partner.post(user?.payload);
  await logged(logMessages.SERVER_ERROR);
}, 2 * LINE_LIMIT);
afterAll(() => stack.close());

/** The text of a property in which CloudFormation inserts names. */
const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : ((value as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join']?.[1] ?? [])
        .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
        .join('');

const ofType = (type: string) => template.resources.filter((resource) => resource.type === type);

/** Whether the functions write that log. */
const isOfFunctions = (logGroup: string) => /Receiver|Consumer/.test(logGroup);

const filters = ofType('AWS::Logs::MetricFilter')
  .filter(({ properties }) => isOfFunctions(JSON.stringify(properties.LogGroupName)))
  .map(({ properties }): string => properties.FilterPattern);

const links = ofType('AWS::CloudWatch::Alarm')
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

const queries = ofType('AWS::Logs::QueryDefinition').flatMap(({ properties }) =>
  [...textOf(properties.QueryString).matchAll(/message = "([^"]+)"/g)].map(([, message = '']) => message),
);

test.each([
  { kind: 'metric filter', patterns: filters },
  { kind: 'link of an alarm', patterns: links },
  { kind: 'document', patterns: documented },
])('each filter pattern of a $kind finds a line that the functions wrote', ({ patterns }) => {
  expect(patterns.length).toBeGreaterThan(eventNames.length);
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

test.each([
  { document: 'docs/secret-rotation.md', message: logMessages.SECRET_HAS_WHITE_SPACE.split(',')[0] },
  { document: 'docs/rollback.md', message: logMessages.SMOKE_TEST },
])('$document quotes the message “$message” as it is', ({ document, message }) => {
  expect(readFileSync(document, 'utf8')).toContain(`\`${message}\``);
});

test('each message of a saved query is one that the functions wrote', () => {
  expect(queries.length).toBeGreaterThan(0);
  const written = new Set(parsed().map(({ message }) => message));
  expect(queries.filter((message) => !written.has(message))).toEqual([]);
});
