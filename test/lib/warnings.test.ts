import { describe, expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import { parseConfig, warningIds } from '../../lib/config.ts';
import { warn } from '../../lib/warnings.ts';

function textsOf(fields: object): string[] {
  const stack = new Stack(new App(), 'Test');
  warn(stack, parseConfig('test', fields));
  return stack.node.metadata.filter(({ type }) => type === 'aws:cdk:warning').map(({ data }) => String(data));
}

/** The ids of the warnings that a stage with these fields is given. */
function warningsOf(fields: object): string[] {
  return textsOf(fields)
    .map((text) => /\[ack: partner-webhooks:([\w-]+)\]$/.exec(text)?.[1] ?? '')
    .sort();
}

const others = (...ids: string[]) => warningIds.filter((one) => !ids.includes(one)).toSorted();

test('a stage that says nothing is warned of all that it lacks', () => {
  expect(warningsOf({})).toEqual(warningIds.toSorted());
});

test('the warning of lost refusals names both ways out', () => {
  const text = textsOf({}).find((one) => one.includes('refusals-are-lost'));
  expect(text).toMatch(/Set gateway to rest, .* or set receiver\.reservedConcurrency\./);
});

test('a stage that is there to be thrown away is warned of nothing', () => {
  expect(warningsOf({ removalPolicy: 'destroy' })).toEqual([]);
});

describe('a stage is not warned', () => {
  test.each([
    ['no-alarm-recipient', { alarmEmails: ['night@example.com'] }],
    ['no-chat-channel', { chat: { slack: { workspaceId: 'T0123ABCD', channelId: 'C0123ABCD' } } }],
    [
      'no-chat-channel',
      {
        chat: {
          teams: {
            tenantId: '0a1b2c3d-0000-4000-8000-000000000004',
            teamId: '0a1b2c3d-0000-4000-8000-000000000005',
            channelId: '19:abc@thread.tacv2',
          },
        },
      },
    ],
    ['no-review-recipient', { reviewEmails: ['reviews@example.com'] }],
    ['refusals-are-lost', { gateway: 'rest' }],
    ['no-quiet-after', { quietAfter: 3 }],
    ['no-quiet-after', { events: { 'shop.updated': { quietAfter: 3 } } }],
    ['relative-runbook', { runbook: 'https://wiki.example.com/operations' }],
  ])('of %s where it has %j', (id, fields) => {
    expect(warningsOf(fields)).toEqual(others(id));
  });

  test('of forged requests or lost refusals where the receiver has concurrency of its own', () => {
    const fields = { receiver: { reservedConcurrency: 200 } };
    expect(warningsOf(fields)).toEqual(others('no-reserved-concurrency', 'refusals-are-lost'));
  });

  test.each(warningIds)('of %s where it says why', (id) => {
    expect(warningsOf({ acknowledgedWarnings: { [id]: 'a reason' } })).toEqual(others(id));
  });
});

test.each([
  ['a warning that there is not', { 'no-such': 'a reason' }, 'acknowledgedWarnings.no-such: is no field'],
  ['no reason', { 'no-chat-channel': ' ' }, 'acknowledgedWarnings.no-chat-channel: must be a reason'],
])('%s is no acknowledgement', (_, acknowledgedWarnings, problem) => {
  expect(() => parseConfig('test', { acknowledgedWarnings })).toThrow(problem);
});
