import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sqsEvent } from '../../../events/lambda-events.ts';
import { type Fault, Faults } from '../../../local/aws/faults.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import { startTestStack } from '../../support/test-stack.ts';
import { FunctionLines } from '../function-lines.ts';

const timestamp = '2026-01-31T09:00:00Z';
const shop = { event: 'shop.updated', data: { shop_id: 's' }, timestamp };
const review = { event: 'review.posted', data: { review_id: 'r' }, timestamp };

const payloadKey = (stringValue: string) => ({ payloadKey: { dataType: 'String', stringValue } });
/** A payload in S3 that its consumer may read, and one that it may not. */
const [large, notMine] = [payloadKey('shop.updated/large'), payloadKey('user.updated/not-mine')];

const faults = new Faults();
const lines = new FunctionLines();
let stack: LocalStack;

beforeAll(async () => {
  stack = await startTestStack({ faults, onLog: lines.add, onProblem: () => {} });
});
beforeEach(() => {
  lines.logged.length = 0;
  lines.metrics.length = 0;
});
afterEach(() => faults.clear());
afterAll(() => stack.close());

/** What a consumer logs about a message, and what it counts against its own version. */
async function attempt(service: string, payload: Record<string, unknown>, receives = 1, attributes = {}) {
  const event = sqsEvent({ event: service.replace('-', '.'), name: service, payload });
  const Records = event.Records.map((record) => ({
    ...record,
    attributes: { ...record.attributes, ApproximateReceiveCount: String(receives) },
    messageAttributes: { ...record.messageAttributes, ...attributes },
  }));
  await stack.functions.get(service)?.function.invoke({ Records });
  return {
    said: lines.of(service).map(({ message }) => message),
    versionErrors: lines.published('VersionError'),
  };
}

describe('a consumer does not count against its version that', () => {
  test.each<[string, string, Record<string, unknown>, Fault, object?]>([
    ['DynamoDB is away', 'shop-updated', shop, { service: 'dynamodb', kind: 'down' }],
    ['DynamoDB throttles', 'shop-updated', shop, { service: 'dynamodb', kind: 'throttled' }],
    ['DynamoDB hangs', 'shop-updated', shop, { service: 'dynamodb', kind: 'slow', milliseconds: 60_000 }],
    ['a notification cannot be noted', 'review-posted', review, { service: 'dynamodb', kind: 'down' }],
    ['SNS throttles', 'review-posted', review, { service: 'sns', kind: 'throttled' }],
    ['S3 is away', 'shop-updated', shop, { service: 's3', kind: 'down' }, large],
    ['Firehose is away', 'shop-updated', shop, { service: 'firehose', kind: 'down' }],
    ['Firehose refuses records', 'shop-updated', shop, { service: 'firehose', kind: 'records-refused' }],
  ])('%s', async (_, service, payload, fault, attributes = {}) => {
    faults.inject(fault);
    const { said, versionErrors } = await attempt(service, payload, 1, attributes);
    expect(said).toContain('Failed');
    expect(versionErrors).toEqual([]);
  });

  test.each([
    [2, 'Failed'],
    [10, 'DeadLettered'],
  ])('attempt %d of a message, which another version may have failed before', async (receives, outcome) => {
    const { said, versionErrors } = await attempt('shop-updated', shop, receives, notMine);
    expect(said).toContain(outcome);
    expect(versionErrors).toEqual([]);
  });
});

describe('a consumer counts against its version, once,', () => {
  const ofThisVersion = [
    {
      namespace: 'PartnerWebhooks-dev',
      name: 'VersionError',
      unit: 'Count',
      value: 1,
      dimensions: { service: 'shop-updated', version: '$LATEST' },
    },
  ];

  test('a dead letter of a message that it does not understand', async () => {
    const { said, versionErrors } = await attempt('shop-updated', { timestamp });
    expect(said).toContain('DeadLettered');
    expect(versionErrors).toEqual(ofThisVersion);
  });

  test('a failure for want of a permission', async () => {
    const { said, versionErrors } = await attempt('shop-updated', shop, 1, notMine);
    expect(said).toContain('Failed');
    expect(versionErrors).toEqual(ofThisVersion);
  });
});
