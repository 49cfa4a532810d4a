import { describe, expect, test } from '@jest/globals';
import {
  canFail,
  expectation,
  faultKinds,
  faultServices,
  faultTitle,
  parseMilliseconds,
  parseShare,
} from '../../../../tools/console/page/faults/fault-text.ts';

test.each([
  [{ service: 'dynamodb', kind: 'down' }, 'DynamoDB down'],
  [{ service: 'sqs', kind: 'down', share: 0.5 }, 'SQS down, 50 % of calls'],
  [{ service: 'sns', kind: 'throttled' }, 'SNS throttled'],
  [{ service: 's3', kind: 'slow', milliseconds: 1500 }, 'S3 slow by 1.5 s'],
  [{ service: 's3', kind: 'slow', milliseconds: 1550, share: 0.125 }, 'S3 slow by 1550 ms, 12.5 % of calls'],
  [{ service: 'firehose', kind: 'records-refused' }, 'Firehose records rejected'],
] as const)('%j has a title', (fault, title) => expect(faultTitle(fault)).toBe(title));

describe('what to expect of a fault', () => {
  test('only Firehose rejects records; everything else happens to every service', () => {
    const impossible = faultServices.flatMap((service) =>
      faultKinds.filter((kind) => !canFail(service, kind)).map((kind) => `${service} ${kind}`),
    );
    expect(impossible).toEqual(
      faultServices
        .filter((service) => service !== 'firehose')
        .map((service) => `${service} records-refused`),
    );
  });

  test('the effect on a call comes first, then what to see', () => {
    expect(expectation({ service: 'sns', kind: 'slow', milliseconds: 500 })).toBe(
      'The call is delayed. Notifications are delayed.',
    );
  });

  test('a service slower than the timeout of a call counts as down', () => {
    const at = (milliseconds: number) => expectation({ service: 'dynamodb', kind: 'slow', milliseconds });
    expect(at(1_999)).toMatch(/^The call is delayed\. Processing is delayed/);
    expect(at(2_000)).toMatch(/^Calls time out after 2 s, as if the service were down\. No item changes/);
  });
});

describe('numbers as they are typed', () => {
  test.each([
    ['100', 1],
    ['12.5', 0.125],
    ['0.1', 0.001],
  ])('%s percent', (text, share) => expect(parseShare(text)).toBeCloseTo(share));

  test.each(['', ' ', '0', '-1', '101', 'half'])('%j is no share', (text) =>
    expect(parseShare(text)).toBe('The share must be above 0 and at most 100 %.'),
  );

  test.each(['', '0', '1.5', '60001', 'soon'])('%j is no delay', (text) =>
    expect(parseMilliseconds(text)).toBe('The delay must be a whole number from 1 to 60,000 ms.'),
  );

  test('a delay', () => expect(parseMilliseconds('1500')).toBe(1500));
});
