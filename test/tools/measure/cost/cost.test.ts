import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { readSamples } from '../../../../events/samples.ts';
import { archiveLine } from '../../../../lambda/archive/record.ts';
import { eventNames, isNotification } from '../../../../lambda/events/catalogue.ts';
import { DATA_KEY_REUSE_SECONDS } from '../../../../lambda/limits.ts';
import { prices } from '../../../../lib/prices.ts';
import { archiveCosts, recordBytes } from '../../../../tools/measure/cost/archive-cost.ts';
import { type Costs, costs, eventsWith } from '../../../../tools/measure/cost/cost-model.ts';
import { readDeployment } from '../../../../tools/measure/cost/deployment.ts';
import { dollars, paid } from '../../../../tools/measure/cost/line-item.ts';
import { MEASURED_LOG_BYTES, measureLogBytes } from '../../../../tools/measure/cost/log-bytes.ts';
import { limits, load, narrowLimits } from '../../../../tools/measure/cost/scale-model.ts';
import { defaultWorkload, parseMix, type Workload } from '../../../../tools/measure/cost/workload.ts';
import { stageAssembly } from '../../../lib/stage-assembly.ts';
import { testAssembly } from '../../../support/test-stack.ts';

const deployment = readDeployment(await stageAssembly('prod'));
const ACCOUNT_CONCURRENCY = 1_000;

/** A log line contains the event's name several times, so a new event moves the mean by some percent. */
const LOG_BYTES_TOLERANCE = 0.15;

/** Each sample is one event, so a new event moves the mean. */
const RECORDS_TOLERANCE = 0.25;

const sampleBodies = readSamples().map(({ name }) => readFileSync(`events/${name}.json`, 'utf8').trim());

/** Several records of each sample, with ids that vary like the partner's. */
function sampleRecords(each: number): string {
  return sampleBodies
    .flatMap((body) => {
      const { event, timestamp } = JSON.parse(body);
      return Array.from({ length: each }, (_, index) => {
        const at = new Date(Date.parse(timestamp) + index * 71_111).toISOString();
        const random = (length: number) => randomBytes(length).toString('hex');
        return archiveLine({
          eventId: random(32),
          event,
          shopId: random(12),
          receivedAt: at,
          requestId: random(8),
          timestamp: at.replace('Z', '000000Z'),
          outcome: 'Processed',
          attempt: 1,
          settledAt: at,
          body: body.replace(/(_id": *")[^"]*/g, (_, key) => key + random(12)),
        });
      });
    })
    .join('');
}

const costsOf = (workload: Partial<Workload> = {}, of = deployment) =>
  costs({ ...defaultWorkload, ...workload }, of, MEASURED_LOG_BYTES);
const quantity = ({ deliveries, standing }: Costs, service: string, item: string) =>
  [...deliveries, ...standing].find((line) => line.service === service && line.item === item)?.quantity;
const limitsOf = (workload: Partial<Workload> = {}, of = deployment) =>
  limits({ ...defaultWorkload, ...workload }, of, ACCOUNT_CONCURRENCY);

describe('the log lines of the model', () => {
  test('are about as long as those of the functions, with as many metrics (npm run cost -- --measure)', async () => {
    const { receiver, consumer, metrics } = await measureLogBytes(testAssembly());
    expect({ metrics }).toEqual({ metrics: deployment.customMetrics });
    for (const [now, taken] of [
      [receiver, MEASURED_LOG_BYTES.receiver],
      [consumer, MEASURED_LOG_BYTES.consumer],
    ] as const) {
      expect(Math.abs(now - taken) / taken).toBeLessThan(LOG_BYTES_TOLERANCE);
    }
  });
});

describe('the charges for a delivery', () => {
  test('grow with each started chunk of 64 KiB in SQS and of 512 KB at the API', () => {
    const chunk = 64 * 1024;
    const sqs = (payloadBytes: number) =>
      quantity(costsOf({ deliveries: 1, payloadBytes }), 'SQS', 'send, receive, delete');
    expect([1_000, chunk, 3 * chunk].map(sqs)).toEqual([3, 2 + 2 + 1, 4 + 4 + 1]);
    const api = (payloadBytes: number) =>
      quantity(costsOf({ deliveries: 1, payloadBytes }), 'API Gateway', 'requests');
    expect([512 * 1024, 512 * 1024 + 1].map(api)).toEqual([1, 2]);
  });

  test('include one request of any size at a REST API, and another one at AWS WAF', () => {
    const rest = { ...deployment, gateway: 'rest' as const, firewallRules: 2 };
    const month = costsOf({ deliveries: 1_000, payloadBytes: 2 ** 20 }, rest);
    expect(quantity(month, 'API Gateway', 'requests')).toBe(1_000);
    expect(quantity(month, 'AWS WAF', 'requests')).toBe(1_000);
    expect(quantity(month, 'AWS WAF', 'web ACL')).toBe(1);
    expect(quantity(month, 'AWS WAF', 'rules')).toBe(2);
    const api = (of: typeof deployment) =>
      costsOf({}, of).deliveries.find(({ service }) => service === 'API Gateway')?.price;
    expect([api(deployment), api(rest)]).toEqual(['httpApiRequest', 'restApiRequest']);
    expect(quantity(costsOf(), 'AWS WAF', 'requests')).toBeUndefined();
  });

  test('share a receive, a delete and an invocation in a batch', () => {
    const month = costsOf({ deliveries: 1_000, batch: 10 });
    expect(quantity(month, 'SQS', 'send, receive, delete')).toBe(1_000 + 100 + 100);
    expect(quantity(month, 'Lambda', 'consumers: invocations')).toBe(100);
  });

  test.each([
    ['shop.updated', 4],
    ['girl.schedule_changed', 2],
    ['girl.created', 2],
    ['girl.deleted', 2],
    ['review.posted', 2],
    ['user.updated', 1],
  ])('include %s as %i write units', (event, units) => {
    const mix = parseMix(`${event}=1`);
    expect(quantity(costsOf({ deliveries: 1, mix }), 'DynamoDB', 'write units')).toBe(units);
  });

  test('include a write and a read in S3 and four requests at the API if it is oversize', () => {
    const month = costsOf({ deliveries: 100, oversizeShare: 1 });
    expect(quantity(month, 'S3', 'oversize bodies: writes')).toBe(100);
    expect(quantity(month, 'S3', 'oversize bodies: reads')).toBe(100);
    expect(quantity(month, 'API Gateway', 'requests')).toBe(400);
    const items = costsOf({ oversizeShare: 0 }).deliveries.map(({ item }) => item);
    expect(items.filter((item) => item.startsWith('oversize'))).toEqual([]);
  });

  test('include two data keys per topic in five minutes, and fewer if less is published', () => {
    const keys = (deliveries: number) => quantity(costsOf({ deliveries }), 'KMS', 'data keys of the topics');
    expect(keys(eventNames.length)).toBe(2 * eventNames.filter(isNotification).length);
    expect(keys(1e6)).toBe(keys(1e9));
  });

  test('include, with your own key, three calls per queue and one per table in five minutes', () => {
    const encrypted = { ...deployment, queueDataKeySeconds: 300 };
    const of = (workload: Partial<Workload>, item: string) =>
      quantity(costsOf(workload, encrypted), 'KMS', item);
    const few = { deliveries: eventNames.length };
    expect(of(few, 'data keys of the queues')).toBe(3 * eventNames.length);
    expect(of(few, 'keys of the tables')).toBe(eventNames.length);
    expect(of({ deliveries: 1e9 }, 'data keys of the queues')).toBe(
      of({ deliveries: 1e8 }, 'data keys of the queues'),
    );
    expect(of({ deliveries: 100, oversizeShare: 1 }, 'key of the bucket')).toBeCloseTo(2);
    expect(of({}, 'reads of a secret')).toBe(
      quantity(costsOf({}, encrypted), 'Secrets Manager', 'reads by warm receivers'),
    );
  });

  test('include no KMS call for a queue, table, bucket or secret with AWS’ own keys', () => {
    const month = costsOf({ oversizeShare: 0.01 });
    const calls = [...month.deliveries, ...month.standing].filter(({ price }) => price === 'kmsRequest');
    expect(calls.map(({ item }) => item)).toEqual(['data keys of the topics']);
  });

  test('include nearly all traces at low rates, 5 % at high ones if Lambda decides, and none without tracing', () => {
    const traces = (deliveries: number, tracing = { rate: 0.05, reservoir: 1 }) =>
      quantity(costsOf({ deliveries }, { ...deployment, tracing }), 'X-Ray', 'traces') ?? 0;
    expect(traces(1_000) / 2_000).toBeCloseTo(1, 2);
    expect(traces(1e10) / 2e10).toBeCloseTo(0.05, 2);
    // Two traces a second for each of two functions.
    expect(traces(1e10, { rate: 0, reservoir: 2 }) / (4 * ((365.25 / 12) * 24 * 60 * 60))).toBeCloseTo(1);
    expect(traces(1e6, { rate: 0.05, reservoir: 0 })).toBeCloseTo(100_000);
    expect(quantity(costsOf(), 'X-Ray', 'traces')).toBeUndefined();
  });

  test('include Lambda’s own lines if the stage wants those of successful invocations', () => {
    const logs = (platformLogs: boolean) =>
      quantity(costsOf({}, { ...deployment, platformLogs }), 'CloudWatch', 'logs: GB written') ?? 0;
    expect(logs(true) - logs(false)).toBeGreaterThan(0.5);
  });

  test('are quantity times price', () => {
    expect(dollars({ service: 'SNS', item: 'publishes', quantity: 3, price: 'snsPublish' })).toBe(
      3 * prices.snsPublish,
    );
  });
});

describe('the archive', () => {
  const archive = { days: 30, bufferSeconds: 900, bufferMegabytes: 64 };
  const of = (workload: Partial<Workload> = {}, changed: Partial<typeof archive> = {}) => ({
    ...defaultWorkload,
    ...workload,
    deployment: { ...deployment, archive: { ...archive, ...changed } },
  });
  const lines = ({ deployment: changed, ...workload }: ReturnType<typeof of>) =>
    paid(archiveCosts(workload, changed));
  const quantityOf = (all: ReturnType<typeof of>, name: string) =>
    lines(all).find(({ item }) => item.startsWith(name))?.quantity ?? 0;

  test('costs at most 0.40 dollars a million deliveries, and only its alarms without deliveries', () => {
    const all = lines(of());
    expect(all.reduce((sum, line) => sum + dollars(line), 0)).toBeLessThanOrEqual(0.4);
    expect(lines(of({ deliveries: 0 }))).toEqual([]);
    const { standing } = costsOf();
    expect(standing).toEqual(costsOf({}, { ...deployment, archive: undefined }).standing);
  });

  test('is charged for each started 5 KB of a record', () => {
    const gigabytes = (payloadBytes: number) => quantityOf(of({ payloadBytes }), 'records');
    const million = (1e6 * 5 * 1024) / 2 ** 30;
    expect(gigabytes(350)).toBeCloseTo(million);
    expect(gigabytes(5 * 1024)).toBeCloseTo(2 * million);
  });

  test('has an object for each event and interval with records', () => {
    const objects = (deliveries: number, bufferSeconds = 900) =>
      quantityOf(of({ deliveries }, { bufferSeconds }), 'archive: objects');
    const intervals = (365.25 / 12) * 24 * 4;
    expect(objects(1e6)).toBeCloseTo(eventNames.length * intervals, -2);
    expect(objects(1e6, 60)).toBeGreaterThan(10 * objects(1e6));
    // Rarely two in an interval.
    expect(objects(60) / 60).toBeCloseTo(1, 2);
  });

  test('has more objects if one is full before its interval ends', () => {
    const objects = (bufferMegabytes: number) =>
      quantityOf(of({ deliveries: 1e10 }, { bufferMegabytes }), 'archive: objects');
    expect(objects(32)).toBeCloseTo(2 * objects(64));
  });

  test('stores at least what gzip leaves of the samples, whose texts repeat, and at most twice that', () => {
    const records = sampleRecords(12);
    const share = gzipSync(records).length / records.length;
    const bytes = quantityOf(of(), 'archive: GB') * 2 ** 30 * (365.25 / 12 / 30);
    const taken = bytes / 1e6 / recordBytes(defaultWorkload.payloadBytes);
    expect(taken).toBeGreaterThanOrEqual(share);
    expect(taken).toBeLessThan(2 * share);
  });

  test('needs the length of a record of the samples', () => {
    const bodies = sampleBodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0) / sampleBodies.length;
    const mean = sampleRecords(1).length / sampleBodies.length;
    expect(Math.abs(mean - recordBytes(bodies)) / mean).toBeLessThan(RECORDS_TOLERANCE);
  });

  test('is queried for the size of a week, at least 10 MB', () => {
    const scanned = (deliveries: number) => quantityOf(of({ deliveries, questions: 1 }), 'scanned') * 2 ** 40;
    expect(scanned(1_000)).toBeCloseTo(10 * 2 ** 20);
    expect(scanned(1e8)).toBeGreaterThan(1e8 * 0.2 * 100);
    expect(quantityOf(of({ questions: 2 }), 'archive: partitions')).toBe(2 * eventNames.length * 7 * 24);
    expect(lines(of()).some(({ service }) => service === 'Athena')).toBe(false);
  });

  test('costs nothing if it is off', () => {
    expect(archiveCosts(defaultWorkload, { ...deployment, archive: undefined })).toEqual([]);
  });
});

describe('the lowest limit', () => {
  const first = (workload: Partial<Workload>, of = deployment) =>
    limitsOf(workload, of).find(({ name }) => !name.startsWith('DynamoDB'));

  test('is the API’s own throttle if that is low', () => {
    const apiThrottle = { rate: 50, burst: 10 };
    expect(first({}, { ...deployment, apiThrottle })).toMatchObject({
      name: 'API Gateway: requests a second',
      deliveries: 50,
    });
  });

  test('is the receiver if little concurrency is reserved for it', () => {
    const receiver = { ...deployment.receiver, reservedConcurrency: 5 };
    expect(first({ receiverMilliseconds: 1_000 }, { ...deployment, receiver })).toMatchObject({
      name: 'Lambda: concurrent receivers',
      deliveries: 5,
    });
    expect(first({}, { ...deployment, receiver })).toMatchObject({
      name: 'Lambda: invocations a second',
      deliveries: 50,
    });
  });

  test('is the consumer that has less concurrency than the others', () => {
    const receiver = { ...deployment.receiver, reservedConcurrency: undefined };
    const consumers = deployment.consumers.map((consumer) =>
      consumer.event === 'review.posted'
        ? { ...consumer, batchSize: 10, maximumConcurrency: 2 }
        : { ...consumer, batchSize: 10, maximumConcurrency: 20 },
    );
    expect(first({ consumerMilliseconds: 1_000 }, { ...deployment, receiver, consumers })).toMatchObject({
      name: 'Consumers: review.posted',
      deliveries: 2 * 10 * eventNames.length,
    });
  });

  test('is the delivery stream of the most frequent event, by the first of its quotas', () => {
    const stream = (workload: Partial<Workload>, of = deployment) =>
      limitsOf(workload, of).find(({ name }) => name.startsWith('Firehose'));
    const mix = parseMix('shop.updated=1');
    expect(stream({ mix })).toMatchObject({
      name: 'Firehose: bytes a second to a stream',
      deliveries: (5 * 2 ** 20) / recordBytes(defaultWorkload.payloadBytes),
    });
    const single = deployment.consumers.map((consumer) => ({ ...consumer, batchSize: 1 }));
    expect(stream({ mix }, { ...deployment, consumers: single })).toMatchObject({
      name: 'Firehose: calls a second to a stream',
      deliveries: 2_000,
    });
    expect(stream({}, { ...deployment, archive: undefined })).toBeUndefined();
  });

  test('is shared by all events that publish to the same channel', () => {
    const [room] = narrowLimits(defaultWorkload);
    expect(room?.deliveries).toBeCloseTo(eventNames.length / eventsWith('chat').length);
    for (const event of eventsWith('chat')) expect(room?.name).toContain(event);
  });

  test('does not exist while a rate is below every limit', () => {
    const at = (rate: number) => load(rate, defaultWorkload, deployment, ACCOUNT_CONCURRENCY);
    const lowest = at(1).nearest;
    expect(at(lowest.deliveries - 1).full).toEqual([]);
    expect(at(lowest.deliveries).full).toContainEqual(lowest);
  });
});

describe('the settings of the model', () => {
  let folder: string | undefined;
  afterEach(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true });
    folder = undefined;
  });

  // biome-ignore lint/suspicious/noExplicitAny: a template has whatever shape CloudFormation gives it.
  type Json = any;

  /** The stack with changed resources of a type. */
  function changed(type: string, change: (properties: Json) => void): string {
    folder = mkdtempSync(join(tmpdir(), 'cost-test-'));
    for (const file of readdirSync(testAssembly()).filter((name) => name.endsWith('.json'))) {
      copyFileSync(join(testAssembly(), file), join(folder, file));
      if (!file.endsWith('.template.json')) continue;
      const template: Json = JSON.parse(readFileSync(join(folder, file), 'utf8'));
      for (const resource of Object.values<Json>(template.Resources)) {
        if (resource.Type === type) change(resource.Properties);
      }
      writeFileSync(join(folder, file), JSON.stringify(template));
    }
    return folder;
  }

  test('are those of the template', () => {
    const assembly = changed('AWS::Lambda::EventSourceMapping', (properties) => {
      properties.BatchSize = 7;
      properties.ScalingConfig = { MaximumConcurrency: 3 };
    });
    for (const consumer of readDeployment(assembly).consumers) {
      expect(consumer).toMatchObject({ batchSize: 7, maximumConcurrency: 3 });
    }
  });

  test('include how long the queues use a data key, if they have one', async () => {
    expect(readDeployment(await stageAssembly('encrypted')).queueDataKeySeconds).toBe(DATA_KEY_REUSE_SECONDS);
    expect(deployment.queueDataKeySeconds).toBeUndefined();
  });

  test('include how long the archive keeps records, and what ends an object', async () => {
    expect(deployment.archive).toEqual({ days: 30, bufferSeconds: 900, bufferMegabytes: 64 });
    const { archive } = readDeployment(await stageAssembly('every-setting'));
    expect(archive).toEqual({ days: 365, bufferSeconds: 120, bufferMegabytes: 64 });
  });

  test('include the gateway, its throttle and its firewall', async () => {
    const every = readDeployment(await stageAssembly('every-setting'));
    expect(every).toMatchObject({
      gateway: 'rest',
      firewallRules: 4,
      apiThrottle: { rate: 20_000, burst: 10_000 },
    });
    expect(deployment).toMatchObject({ gateway: 'http', firewallRules: undefined });
  });

  test('include each metric of an alarm', () => {
    const assembly = changed('AWS::CloudWatch::Alarm', (properties) => {
      properties.Metrics = [{ MetricStat: {} }, { MetricStat: {} }, { Expression: 'm1/m2' }];
    });
    const alarms = Object.values<Json>(
      JSON.parse(
        readFileSync(
          join(assembly, readdirSync(assembly).find((name) => name.endsWith('.template.json')) ?? ''),
          'utf8',
        ),
      ).Resources,
    ).filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm');
    expect(readDeployment(assembly).alarmMetrics).toBe(2 * alarms.length);
  });

  test('need an event source for each event', () => {
    const assembly = changed('AWS::Lambda::EventSourceMapping', (properties) => {
      properties.EventSourceArn = { 'Fn::GetAtt': ['Another', 'Arn'] };
    });
    expect(() => readDeployment(assembly)).toThrow('Expected one event source of shop.updated');
  });
});

describe('a mix', () => {
  test('gives each event its share, and none to the others', () => {
    expect(parseMix('shop.updated=3,user.updated=1')).toMatchObject({
      'shop.updated': 0.75,
      'user.updated': 0.25,
      'review.posted': 0,
    });
  });

  test.each([
    ['example.unknown=1', "not 'example.unknown=1'. The events are shop.updated"],
    ['shop.updated', "not 'shop.updated'"],
    ['shop.updated=0', 'at least one event a weight above 0'],
  ])('%j is refused', (text, message) => {
    expect(() => parseMix(text)).toThrow(message);
  });
});
