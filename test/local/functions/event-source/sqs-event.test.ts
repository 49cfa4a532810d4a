import { describe, expect, test } from '@jest/globals';
import { splitBySize, toRecord } from '../../../../local/functions/event-source/sqs-event.ts';

const source = { queueArn: 'arn:aws:sqs:eu-central-1:000000000000:shop-updated', region: 'eu-central-1' };

test('a record has the shape that Lambda gives it', () => {
  const message = {
    MessageId: '059f36b4-87a3-44ab-83d2-661975830a7d',
    ReceiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a',
    Body: '{"event":"shop.updated"}',
    MD5OfBody: 'e4e68fb7bd0e697a0ae8f1bb342846b3',
    MD5OfMessageAttributes: '00484c68f59a9e1c0f1b5ac8a4ae9e57',
    Attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '1545082649183',
      SenderId: 'AIDAIENQZJOLO23YVJ4VO',
      ApproximateFirstReceiveTimestamp: '1545082649185',
      MessageGroupId: 'shop-7',
    },
    MessageAttributes: {
      event: { DataType: 'String', StringValue: 'shop.updated' },
      raw: { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2, 255]) },
    },
  };
  expect(toRecord(message, source)).toEqual({
    messageId: '059f36b4-87a3-44ab-83d2-661975830a7d',
    receiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a',
    body: '{"event":"shop.updated"}',
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '1545082649183',
      SenderId: 'AIDAIENQZJOLO23YVJ4VO',
      ApproximateFirstReceiveTimestamp: '1545082649185',
      MessageGroupId: 'shop-7',
    },
    messageAttributes: {
      event: { stringValue: 'shop.updated', stringListValues: [], binaryListValues: [], dataType: 'String' },
      raw: { binaryValue: 'AQL/', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
    },
    md5OfMessageAttributes: '00484c68f59a9e1c0f1b5ac8a4ae9e57',
    md5OfBody: 'e4e68fb7bd0e697a0ae8f1bb342846b3',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:shop-updated',
    awsRegion: 'eu-central-1',
  });
});

describe('splitting by size', () => {
  const records = (count: number, size: number) =>
    Array.from({ length: count }, (_, index) =>
      toRecord({ MessageId: String(index), Body: 'é'.repeat(size) }, source),
    );

  test('keeps what fits together, and the order', () => {
    const all = records(10, 500_000);
    const batches = splitBySize(all);
    expect(batches.map((batch) => batch.length)).toEqual([6, 4]);
    expect(batches.flat()).toEqual(all);
    for (const batch of batches) {
      expect(Buffer.byteLength(JSON.stringify({ Records: batch }))).toBeLessThanOrEqual(6 * 1024 * 1024);
    }
  });

  test.each([
    ['no records make no batch', 0, []],
    ['one that is too large goes alone', 2, [1, 1]],
  ])('%s', (_case, count, sizes) => {
    expect(splitBySize(records(count, 100), 50).map((batch) => batch.length)).toEqual(sizes);
  });
});
