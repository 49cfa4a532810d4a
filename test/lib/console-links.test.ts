import { expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { certificateLink, logLink, queueLink } from '../../lib/alarms/console-links.ts';

const ACCOUNT = '111122223333';
const stackIn = (region: string) => new Stack(new App(), 'Test', { env: { account: ACCOUNT, region } });

test.each([
  ['eu-central-1', 'console.aws.amazon.com'],
  ['cn-north-1', 'console.amazonaws.cn'],
  ['us-gov-west-1', 'console.amazonaws-us-gov.com'],
  ['eusc-de-east-1', 'console.amazonaws-eusc.eu'],
])('the console of %s is at %s', (region, host) => {
  const arn = `arn:aws:acm:${region}:${ACCOUNT}:certificate/0a1b-2c`;
  expect(certificateLink(stackIn(region), arn)).toBe(
    `Certificate: https://${region}.${host}/acm/home?region=${region}#/certificates/0a1b-2c`,
  );
});

test('the console of a stage without a region is that of where it is deployed', () => {
  const stack = new Stack(new App(), 'Test');
  const link = stack.resolve(certificateLink(stack, 'certificate/0a1b'));
  expect(link['Fn::Join'][1].slice(0, 3)).toEqual([
    'Certificate: https://',
    { Ref: 'AWS::Region' },
    '.console.aws.amazon.com/acm/home?region=',
  ]);
});

test('a queue is named by its URL, encoded once', () => {
  const stack = stackIn('eu-central-1');
  const queue = new Queue(stack, 'Queue');
  expect(stack.resolve(queueLink(queue))['Fn::Join'][1]).toEqual([
    `Queue: https://eu-central-1.console.aws.amazon.com/sqs/v3/home?region=eu-central-1#/queues/https%3A%2F%2Fsqs.eu-central-1.`,
    { Ref: 'AWS::URLSuffix' },
    `%2F${ACCOUNT}%2F`,
    { 'Fn::GetAtt': [stack.getLogicalId(queue.node.defaultChild as never), 'QueueName'] },
  ]);
});

test('the pattern of a log is encoded twice, with $ for %', () => {
  const stack = stackIn('ap-northeast-1');
  const link = stack.resolve(logLink(new LogGroup(stack, 'Log'), '{ $.level = "DEBUG" }'));
  expect(link['Fn::Join'][1].at(-1)).toBe(
    '/log-events$3FfilterPattern$3D$257B$2520$2524.level$2520$253D$2520$2522DEBUG$2522$2520$257D$26start$3D-10800000',
  );
});
