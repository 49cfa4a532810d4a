import { describe, expect, test } from '@jest/globals';
import {
  activeText,
  canFail,
  expectation,
  faultKinds,
  faultServices,
  faultTitle,
  parseMilliseconds,
  parseShare,
} from '../../../../tools/console/page/faults/fault-text.ts';

describe('what a fault is called', () => {
  test.each([
    [{ service: 'dynamodb', kind: 'down' }, 'DynamoDB is down'],
    [{ service: 'sqs', kind: 'down', share: 0.5 }, 'SQS is down for 50 % of the calls'],
    [{ service: 'sns', kind: 'throttled' }, 'SNS throttles all of its calls'],
    [{ service: 's3', kind: 'slow', milliseconds: 1500 }, 'S3 is slow by 1.5 s'],
    [
      { service: 's3', kind: 'slow', milliseconds: 1550, share: 0.125 },
      'S3 is slow by 1550 ms in 12.5 % of the calls',
    ],
    [{ service: 'sqs', kind: 'response-lost', share: 0.1 }, 'SQS loses 10 % of its answers'],
    [{ service: 'firehose', kind: 'records-refused' }, 'Firehose refuses all of the records'],
  ] as const)('%j', (fault, title) => expect(faultTitle(fault)).toBe(title));

  test('several are counted, one is named, none is nothing', () => {
    const fault = { service: 'sqs', kind: 'down' } as const;
    expect(activeText([])).toBe('');
    expect(activeText([fault])).toBe('SQS: down');
    expect(activeText([fault, fault])).toBe('2 faults are on');
  });
});

describe('what to expect of a fault', () => {
  test('only Firehose refuses records; everything else happens to every service', () => {
    const impossible = faultServices.flatMap((service) =>
      faultKinds.filter((kind) => !canFail(service, kind)).map((kind) => `${service} ${kind}`),
    );
    expect(impossible).toEqual(
      faultServices
        .filter((service) => service !== 'firehose')
        .map((service) => `${service} records-refused`),
    );
  });

  test('a service slower than a call waits counts as down', () => {
    const at = (milliseconds: number) => expectation({ service: 'dynamodb', kind: 'slow', milliseconds });
    expect(at(1_999)).toMatch(/^Each effect takes so much longer/);
    expect(at(2_000)).toMatch(/^A call ends after 2 s, so this counts as down\. Rows stay as they are/);
  });
});

describe('numbers as they are typed', () => {
  test.each([
    ['100', 1],
    ['12.5', 0.125],
    ['0.1', 0.001],
  ])('%s percent', (text, share) => expect(parseShare(text)).toBeCloseTo(share));

  test.each(['', ' ', '0', '-1', '101', 'half'])('%j is no share', (text) =>
    expect(parseShare(text)).toBe('A number above 0, 100 at most'),
  );

  test.each(['', '0', '1.5', '60001', 'soon'])('%j is no delay', (text) =>
    expect(parseMilliseconds(text)).toBe('A whole number from 1 to 60,000'),
  );

  test('a delay', () => expect(parseMilliseconds('1500')).toBe(1500));
});
