import { describe, expect, test } from '@jest/globals';
import { compilePolicy, type PolicyStatement } from '../../../local/aws/authorization.ts';

const QUEUE = 'arn:aws:sqs:eu-central-1:000000000000:orders';
const allow = (rest: Omit<PolicyStatement, 'Effect'>): PolicyStatement => ({ Effect: 'Allow', ...rest });
const deny = (rest: Omit<PolicyStatement, 'Effect'>): PolicyStatement => ({ Effect: 'Deny', ...rest });

describe('a policy', () => {
  test.each<[string, PolicyStatement[], string]>([
    ['without statements allows nothing', [], 'not allowed'],
    [
      'allows the named action on the named resource',
      [allow({ Action: 'sqs:SendMessage', Resource: QUEUE })],
      'allowed',
    ],
    ['takes lists', [allow({ Action: ['sqs:X', 'sqs:SendMessage'], Resource: ['arn:x', QUEUE] })], 'allowed'],
    ['does not mind the case of an action', [allow({ Action: 'SQS:sendmessage', Resource: '*' })], 'allowed'],
    ['minds the case of a resource', [allow({ Action: '*', Resource: QUEUE.toUpperCase() })], 'not allowed'],
    ['matches * in an action', [allow({ Action: 'sqs:Send*', Resource: '*' })], 'allowed'],
    [
      'matches ? in an action for one character only',
      [allow({ Action: 'sqs:Send?', Resource: '*' })],
      'not allowed',
    ],
    ['matches * across the parts of an ARN', [allow({ Action: '*', Resource: 'arn:*orders' })], 'allowed'],
    [
      'matches ? in a resource',
      [allow({ Action: '*', Resource: QUEUE.replace('orders', 'order?') })],
      'allowed',
    ],
    [
      'takes a dot literally',
      [allow({ Action: '*', Resource: QUEUE.replace('orders', 'order.') })],
      'not allowed',
    ],
    [
      'needs resource and action of one statement',
      [allow({ Action: 'sqs:SendMessage', Resource: 'arn:x' }), allow({ Action: 'sqs:X', Resource: QUEUE })],
      'not allowed',
    ],
    [
      'denies before it allows',
      [deny({ Action: 'sqs:*', Resource: '*' }), allow({ Action: '*', Resource: '*' })],
      'explicitly denied',
    ],
    [
      'denies after it allows',
      [allow({ Action: '*', Resource: '*' }), deny({ Action: 'sqs:*', Resource: '*' })],
      'explicitly denied',
    ],
    ['allows all but NotAction', [allow({ NotAction: 'sqs:ReceiveMessage', Resource: '*' })], 'allowed'],
    [
      'does not allow what NotAction names',
      [allow({ NotAction: 'sqs:SendMessage', Resource: '*' })],
      'not allowed',
    ],
    ['allows all but NotResource', [allow({ Action: '*', NotResource: 'arn:x' })], 'allowed'],
    ['does not allow what NotResource names', [allow({ Action: '*', NotResource: QUEUE })], 'not allowed'],
  ])('%s', (_name, statements, decision) => {
    expect(compilePolicy(statements)('sqs:SendMessage', QUEUE)).toBe(decision);
  });

  test('that names a resource does not allow an action that has none', () => {
    const policy = compilePolicy([allow({ Action: 'sqs:ListQueues', Resource: QUEUE })]);
    expect(policy('sqs:ListQueues', '*')).toBe('not allowed');
  });
});

describe('a condition', () => {
  const decisionUnder = (Condition: PolicyStatement['Condition'] & object) =>
    compilePolicy([allow({ Action: '*', Resource: '*', Condition })])('sqs:SendMessage', QUEUE);

  test.each<[string, PolicyStatement['Condition'] & object, string]>([
    ['on secure transport holds', { Bool: { 'aws:SecureTransport': 'true' } }, 'allowed'],
    ['on insecure transport does not hold', { Bool: { 'aws:SecureTransport': 'false' } }, 'not allowed'],
    [
      'holds where one of several values does',
      { StringLike: { 'AWS:securetransport': ['x', 't*'] } },
      'allowed',
    ],
    ['on a key without a value here does not hold', { ArnEquals: { 'aws:SourceArn': '*' } }, 'not allowed'],
    [
      'holds only where all its keys do',
      { StringEquals: { 'aws:SecureTransport': 'true', 'aws:PrincipalTag/a': 'b' } },
      'not allowed',
    ],
  ])('%s', (_name, condition, decision) => {
    expect(decisionUnder(condition)).toBe(decision);
  });

  test('with an unsupported operator is named in the error', () => {
    expect(() => decisionUnder({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'x' } })).toThrow(
      'The condition operator ForAllValues:StringEquals is not supported here. Supported: Bool, StringEquals, StringLike, ArnEquals, ArnLike.',
    );
  });
});
