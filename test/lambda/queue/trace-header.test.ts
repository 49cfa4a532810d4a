import { createHash } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import { sqsEvent } from '../../../events/lambda-events.ts';
import { SourceQueue } from '../../../lambda/consumer/source-queue.ts';
import { parsePayload } from '../../../lambda/events/envelope.ts';
import { traceAttribute } from '../../../lambda/queue/message.ts';
import { EventQueues } from '../../../lambda/receiver/event-queues.ts';
import { type HttpRecorder, startHttpRecorder } from '../http-recorder.ts';

const ROOT = 'Root=1-5759e988-bd862e3fe1be46a994272793';
const HEADER = `${ROOT};Parent=53995c3f42cd8ad8;Sampled=1;Lineage=1:a87bd80c:0`;
const OTHER = 'Root=1-67891233-abcdef012345678912345678;Parent=463ac35c9f6413ad;Sampled=1';

const carried = (header: string) => ({
  MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: header } },
});

describe('a trace header', () => {
  test.each([
    ['is only sampled or not', `${ROOT};Sampled=0`],
    ['has its root alone', ROOT],
    ['has a parent', `${ROOT};Parent=53995c3f42cd8ad8;Sampled=1`],
    ['has a lineage', HEADER],
  ])('that %s is carried as it is', (_, header) => {
    expect(traceAttribute(header)).toEqual(carried(header));
  });

  test.each([
    ['is absent', undefined],
    ['is empty', ''],
    ['has no root', 'Parent=53995c3f42cd8ad8;Sampled=1'],
    ['has a root without its version', 'Root=5759e988-bd862e3fe1be46a994272793;Sampled=1'],
    ['has a root that is too short', 'Root=1-5759e988-bd862e3fe1be46a99427279;Sampled=1'],
    ['is percent-encoded', encodeURIComponent(HEADER)],
    ['has a root that no tracer made', 'Root=dummy;Parent=53995c3f42cd8ad8;Sampled=0'],
    ['has an empty part', `${ROOT};Parent=;Sampled=1`],
    ['has a part of another kind', `${ROOT};Sampled=1;_dd.origin=rum`],
    ['begins with a space', ` ${HEADER}`],
    ['ends with a line break', `${HEADER}\n`],
  ])('that %s is left out, as SQS would refuse the event for it', (_, header) => {
    expect(traceAttribute(header)).toEqual({});
  });
});

describe('a message that is sent', () => {
  let sqs: HttpRecorder;
  let client: SQSClient;
  beforeAll(async () => {
    sqs = await startHttpRecorder(({ body }) => ({
      status: 200,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: JSON.stringify({
        MessageId: 'm',
        MD5OfMessageBody: createHash('md5').update(JSON.parse(body).MessageBody).digest('hex'),
      }),
    }));
  });
  afterAll(() => sqs.close());
  beforeEach(() => {
    client = new SQSClient({
      endpoint: sqs.url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    });
  });
  afterEach(() => {
    delete process.env._X_AMZN_TRACE_ID;
  });

  const sent = () => JSON.parse(sqs.requests.at(-1)?.body ?? '');
  const delivery = { eventId: 'e-1', receivedAt: '2026-01-31T09:00:00.000Z', requestId: 'r-1' };
  const payload = { event: 'shop.updated', data: { shop_id: 's' }, timestamp: '2026-01-31T09:00:00Z' };

  const enqueue = async (event: object) => {
    const url = `${sqs.url}/000000000000/queue`;
    const events = { 'shop.updated': url } as ConstructorParameters<typeof EventQueues>[1]['events'];
    const queues = new EventQueues(client, { events, unrouted: url, quarantine: url });
    const body = Buffer.from(JSON.stringify(event));
    const parsed = parsePayload(body);
    if (parsed.kind === 'unusable') await queues.quarantine(body, parsed.problems, delivery);
    else await queues.enqueue(parsed, body, delivery);
  };

  describe.each([
    ['to the queue of its event', payload],
    ['to the unrouted queue', { ...payload, event: 'example.unknown' }],
    ['to the quarantine queue', { ...payload, data: 1 }],
  ])('%s', (_, event) => {
    test('carries the trace of each invocation', async () => {
      for (const header of [HEADER, OTHER]) {
        process.env._X_AMZN_TRACE_ID = header;
        await enqueue(event);
        expect(sent()).toMatchObject(carried(header));
      }
    });

    test('carries none where nothing is traced', async () => {
      await enqueue(event);
      expect(sent()).not.toHaveProperty('MessageSystemAttributes');
    });
  });

  test('to the dead-letter queue carries the trace of its delivery, not that of the invocation', async () => {
    process.env._X_AMZN_TRACE_ID = OTHER;
    const [record] = sqsEvent({ event: 'shop.updated', name: 'shop-updated', payload }).Records as [
      SQSRecord,
    ];
    const queueUrl = `${sqs.url}/000000000000/queue`;
    const source = new SourceQueue(client, {
      QUEUE_URL: queueUrl,
      DEAD_LETTER_QUEUE_URL: queueUrl,
      MAXIMUM_RECEIVES: '10',
      FIRST_RETRY_DELAY_SECONDS: '30',
    });
    await source.sendToDeadLetterQueue(
      { ...record, attributes: { ...record.attributes, AWSTraceHeader: HEADER } },
      'reason',
    );
    expect(sent()).toMatchObject(carried(HEADER));
    await source.sendToDeadLetterQueue(record, 'reason');
    expect(sent()).not.toHaveProperty('MessageSystemAttributes');
  });
});
