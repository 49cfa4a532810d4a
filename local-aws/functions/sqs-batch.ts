import { Buffer } from 'node:buffer';
import type { SQSMessageAttribute, SQSRecord, SQSRecordAttributes } from 'aws-lambda';
import { REGION } from '../aws/service-forms.ts';
import { EVENT_LIMIT_BYTES, type InvocationResult } from './invocation.ts';

interface ReceivedAttribute {
  readonly DataType: string;
  readonly StringValue?: string;
  /** Base64. */
  readonly BinaryValue?: string;
}

/** A message in an answer of ReceiveMessage that was asked for all attributes. */
export interface BatchMessage {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly MD5OfBody: string;
  readonly MD5OfMessageAttributes?: string;
  readonly Attributes: SQSRecordAttributes;
  readonly MessageAttributes?: Readonly<Record<string, ReceivedAttribute>>;
}

/** The message as a record of a Lambda event. */
export function toRecord(message: BatchMessage, queueArn: string): SQSRecord {
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: message.Attributes,
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, toAttribute(value)]),
    ),
    ...(message.MD5OfMessageAttributes && { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
    md5OfBody: message.MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: REGION,
  };
}

function toAttribute({ DataType, StringValue, BinaryValue }: ReceivedAttribute): SQSMessageAttribute {
  return {
    ...(StringValue !== undefined && { stringValue: StringValue }),
    ...(BinaryValue !== undefined && { binaryValue: BinaryValue }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType,
  };
}

/** Splits records into events that are not too large for Lambda. Keeps their order. */
export function splitBySize(records: SQSRecord[]): SQSRecord[][] {
  const batches: SQSRecord[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const recordSize = Buffer.byteLength(JSON.stringify(record)) + 1;
    if (size + recordSize > EVENT_LIMIT_BYTES) {
      batches.push([]);
      size = Buffer.byteLength('{"Records":[]}');
    }
    batches.at(-1)?.push(record);
    size += recordSize;
  }
  return batches;
}

/**
 * Decides by Lambda's rules which messages of a batch to delete
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html). The others return to the queue after
 * their visibility timeout. The rules do not cover three cases, for which we assume: an object without
 * `batchItemFailures` is a success, a response that is not an object is malformed, and an identifier may be repeated.
 * @throws Error if the response is malformed, in which case all messages have failed
 */
export function processedIds(
  messageIds: string[],
  result: InvocationResult,
  reportBatchItemFailures: boolean,
): string[] {
  if (!result.ok) return [];
  const { payload } = result;
  if (!reportBatchItemFailures || payload === null || payload === undefined) return messageIds;
  if (typeof payload !== 'object' || Array.isArray(payload)) throw malformed('it is not an object');
  const failures = 'batchItemFailures' in payload ? payload.batchItemFailures : undefined;
  if (failures === null || failures === undefined) return messageIds;
  if (!Array.isArray(failures)) throw malformed('batchItemFailures is not a list');

  const remaining = new Set(messageIds);
  for (const failure of failures) {
    const identifier: unknown = failure?.itemIdentifier;
    if (typeof identifier !== 'string') throw malformed('an item has no itemIdentifier');
    if (!messageIds.includes(identifier)) throw malformed('an itemIdentifier is not of this batch');
    remaining.delete(identifier);
  }
  return [...remaining];
}

const malformed = (reason: string) => new Error(`the response is malformed: ${reason}`);
