import { describe, expect, test } from '@jest/globals';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { dollars } from '../../../tools/cost/line-item.ts';
import { MEASURED_LOG_BYTES } from '../../../tools/cost/log-bytes.ts';
import { invalidatedPaths, type ReplayLoad, replayCosts } from '../../../tools/cost/replay-cost.ts';

const load = (messages: Partial<Record<EventName, number>>, more: Partial<ReplayLoad> = {}): ReplayLoad => ({
  messages: new Map(Object.entries(messages) as [EventName, number][]),
  bodyBytes: 350,
  oversize: 0,
  objects: 0,
  archiveBytes: 0,
  seconds: 0,
  mode: 'repair',
  notify: false,
  ...more,
});
const quantity = (of: ReplayLoad, service: string, item: string) =>
  replayCosts(of).find((line) => line.service === service && line.item === item)?.quantity;

describe('what a replay is charged for', () => {
  test('is a tenth of a send, a receive and a delete of each message', () => {
    expect(quantity(load({ 'user.updated': 1_000 }), 'SQS', 'send, receive, delete')).toBe(
      100 + 1_000 + 1_000,
    );
  });

  test('grows with each begun chunk of 64 KiB, of a batch and of a message', () => {
    const large = load({ 'user.updated': 10 }, { bodyBytes: 64 * 1024 });
    expect(quantity(large, 'SQS', 'send, receive, delete')).toBe(11 + 20 + 10);
  });

  test('is what each effect writes', () => {
    const units = (messages: Partial<Record<EventName, number>>, notify = false) =>
      quantity(load(messages, { notify }), 'DynamoDB', 'write units');
    expect(units({ 'girl.created': 10 })).toBe(20);
    expect(units({ 'user.updated': 10 })).toBe(10);
    expect(units({ 'review.posted': 10 })).toBe(20);
    // That people are told again is noted, too.
    expect(units({ 'review.posted': 10 }, true)).toBe(40);
  });

  test('is notifications only where people are told again, and only of events that tell any', () => {
    const messages = { 'review.posted': 10, 'user.updated': 5 };
    expect(quantity(load(messages), 'SNS', 'publishes')).toBeUndefined();
    expect(quantity(load(messages, { notify: true }), 'SNS', 'publishes')).toBe(10);
  });

  test('is 5 KB of Firehose for each record, as it has no body', () => {
    expect(quantity(load({ 'user.updated': 1_024 * 1_024 }), 'Firehose', 'records: GB')).toBe(5);
  });

  test('is two reads of each object, for the plan and for the replay', () => {
    expect(
      quantity(load({ 'user.updated': 1 }, { objects: 7 }), 'S3', 'objects and oversize bodies: reads'),
    ).toBe(14);
  });

  test('is what leaves S3 for the operator, twice', () => {
    expect(
      quantity(
        load({ 'user.updated': 1 }, { archiveBytes: 3 * 1024 ** 3 }),
        'S3',
        'objects to the operator: GB out',
      ),
    ).toBe(6);
  });

  test('is the paths of CloudFront apart: of shops, in a repair', () => {
    const messages = load({ 'shop.updated': 10, 'user.updated': 5 });
    expect(invalidatedPaths(messages)).toBe(10);
    expect(invalidatedPaths({ ...messages, mode: 'fill' })).toBe(0);
  });

  test('is some dollars a million', () => {
    const million = replayCosts(load({ 'user.updated': 1_000_000 }, { objects: 3_000, seconds: 10_000 }));
    const total = million.map(dollars).reduce((sum, price) => sum + price, 0);
    expect(total).toBeGreaterThan(1.5);
    expect(total).toBeLessThan(4);
  });
});

test('the log lines that it takes are about those that are measured, with the one that counts', () => {
  const replayed = 245;
  const logGigabytes = quantity(load({ 'user.updated': 1 }), 'CloudWatch', 'logs: GB written') ?? 0;
  const measured = MEASURED_LOG_BYTES.consumer + replayed;
  expect(Math.abs(logGigabytes * 1024 ** 3 - measured) / measured).toBeLessThan(0.15);
});
