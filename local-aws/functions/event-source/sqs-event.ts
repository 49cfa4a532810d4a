import { Buffer } from 'node:buffer';
import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSMessageAttribute, SQSRecord, SQSRecordAttributes } from 'aws-lambda';
import { REGION } from '../../client-settings.ts';
import { EVENT_LIMIT_BYTES } from '../invocation.ts';

/**
 * Converts a received message to a record of a Lambda event. It must have been received with all attributes.
 */
export function toRecord(message: Message, queueArn: string): SQSRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: toRecordAttributes(message.Attributes ?? {}),
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, toAttribute(value)]),
    ),
    ...(message.MD5OfMessageAttributes !== undefined && {
      md5OfMessageAttributes: message.MD5OfMessageAttributes,
    }),
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: REGION,
  };
}

/** Splits records into events that are not too large for Lambda. Keeps their order. */
export function splitBySize(records: SQSRecord[], limitBytes = EVENT_LIMIT_BYTES): SQSRecord[][] {
  const batches: SQSRecord[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const recordSize = Buffer.byteLength(JSON.stringify(record)) + 1;
    if (size + recordSize > limitBytes) {
      batches.push([]);
      size = Buffer.byteLength('{"Records":[]}');
    }
    batches.at(-1)?.push(record);
    size += recordSize;
  }
  return batches;
}

function toRecordAttributes(attributes: Record<string, string>): SQSRecordAttributes {
  return {
    ...attributes,
    ApproximateReceiveCount: attributes.ApproximateReceiveCount ?? '1',
    SentTimestamp: attributes.SentTimestamp ?? '',
    SenderId: attributes.SenderId ?? '',
    ApproximateFirstReceiveTimestamp: attributes.ApproximateFirstReceiveTimestamp ?? '',
  };
}

function toAttribute(value: MessageAttributeValue): SQSMessageAttribute {
  return {
    ...(value.StringValue !== undefined && { stringValue: value.StringValue }),
    ...(value.BinaryValue !== undefined && {
      binaryValue: Buffer.from(value.BinaryValue).toString('base64'),
    }),
    stringListValues: [],
    binaryListValues: [],
    dataType: value.DataType ?? '',
  };
}
