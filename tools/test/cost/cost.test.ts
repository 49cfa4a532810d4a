import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { readSamples } from '../../../events/samples.ts';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { archiveLine } from '../../../lambda/archive/record.ts';
import { catalogue, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { parseConfig } from '../../../lib/config.ts';
import { stageAssembly, stageTemplate } from '../../../test/lib/stage-assembly.ts';
import { startTestStack } from '../../../test/support/test-stack.ts';
import { ARCHIVE_SIZE, costTable, LOG_BYTES, monthlyCost } from '../../cost/cost-model.ts';
import { type Deployment, deployed } from '../../cost/deployment.ts';
import { defaultWorkload, parseMix, type Workload } from '../../cost/workload.ts';
import { logFilter } from '../../local/aws/logs/log-filter.ts';
import type { FunctionLogLine } from '../../local/functions/invocation.ts';
import { stages } from '../../local/template/stages.ts';

/**
 * Tolerance as a share. Log lines contain the event's name several times, so a new event changes their mean
 * length.
 */
const LOG_BYTES_TOLERANCE = 0.15;

/** Tolerance as a share. Each event has one sample, so a new event changes the mean. */
const RECORDS_TOLERANCE = 0.25;

const deployedAs = async (stage: string) =>
  deployed(parseConfig(stage, stages[stage]), await stageAssembly(stage));

const prod = await deployedAs('prod');

/**
 * Cost of a service in dollars.
 * @param workload fields that differ from the usual deliveries to prod
 */
const dollars = (service: string, workload: Partial<Workload> = {}, changes: Partial<Deployment> = {}) =>
  monthlyCost({ ...prod, ...changes }, { ...defaultWorkload, ...workload }).deliveries[service] ?? 0;
const standing = (service: string, changes: Partial<Deployment> = {}) =>
  monthlyCost({ ...prod, ...changes }).standing[service] ?? 0;

describe('the charges for a million deliveries', () => {
  test('grow with each started chunk of 64 KiB in SQS and of 512 KB at an HTTP API', () => {
    const chunk = 64 * 1024;
    const sqs = [1_000, chunk, 3 * chunk].map((payloadBytes) => dollars('SQS', { payloadBytes }));
    // Each message is sent, received and deleted. With its attributes, a message of one full chunk counts as two.
    for (const [index, requests] of [3, 2 + 2 + 1, 4 + 4 + 1].entries()) {
      expect(sqs[index]).toBeCloseTo(requests * 0.5);
    }
    expect(dollars('API Gateway', { payloadBytes: 512 * 1024 })).toBeCloseTo(1);
    expect(dollars('API Gateway', { payloadBytes: 512 * 1024 + 1 })).toBeCloseTo(2);
  });

  test('include one request of any size at a REST API, and another one at AWS WAF', () => {
    const waf = { requestsPerAddress: 100, managedLists: ['AWSManagedRulesCommonRuleSet' as const] };
    const rest = { gateway: 'rest' as const, waf };
    expect(dollars('API Gateway', { payloadBytes: 2 ** 20 }, rest)).toBeCloseTo(3.5);
    expect(dollars('AWS WAF', {}, rest)).toBeCloseTo(0.6);
    expect(standing('AWS WAF', rest)).toBe(5 + 2);
    expect(dollars('AWS WAF') + standing('AWS WAF')).toBe(0);
  });

  test('share a receive, a delete and an invocation in a batch', () => {
    expect(dollars('SQS', { batch: 10 })).toBeCloseTo(1.2 * 0.5);
    const noTime = { receiverMs: 0, consumerMs: 0 };
    expect(dollars('Lambda', { ...noTime, batch: 10 })).toBeCloseTo(1.1 * 0.2);
  });

  test('include the memory and time of each function', () => {
    const one = dollars('Lambda', { receiverMs: 1_000, consumerMs: 0 });
    const receiver = { ...prod.receiver, memory: 2 * prod.receiver.memory };
    const two = dollars('Lambda', { receiverMs: 1_000, consumerMs: 0 }, { receiver });
    expect(two - one).toBeCloseTo(1e6 * 0.5 * 0.0000133334, 3);
    expect(dollars('Lambda', { consumerMs: 70 })).toBeGreaterThan(dollars('Lambda', { consumerMs: 35 }));
  });

  test.each(eventNames.filter((event) => !isNotification(event)))(
    'include the write units of %s, and those of its index',
    (event) => {
      const units = { 'shop-cache': 4, cast: 2, 'contact-partner': 1, chat: 0, review: 0 };
      const mix = parseMix(`${event}=1`);
      expect(dollars('DynamoDB', { mix })).toBeCloseTo(units[catalogue[event].effect] * 0.625);
    },
  );

  test('include each review mail, and each CloudFront path of a shop', () => {
    const mix = parseMix('review.posted=1,shop.updated=1');
    const mails = dollars('SNS', { mix }, { reviewEmails: ['a@example.com', 'b@example.com'] });
    expect(mails - dollars('SNS', { mix })).toBeCloseTo(2 * 500_000 * 2e-5);
    const cloudFront = { distributionId: 'E1', paths: ['/a/{shop_id}', '/b/{shop_id}'] };
    expect(dollars('CloudFront', { mix }, { cloudFront })).toBeCloseTo(2 * 500_000 * 0.005);
  });

  test('include two calls per topic key in five minutes, and with your own key seven more per event', () => {
    const few = { deliveries: eventNames.length };
    const topics = (2 * eventNames.filter(isNotification).length * 0.03) / 1e4;
    expect(dollars('KMS', few)).toBeCloseTo(topics, 10);
    expect(dollars('KMS', few, { encryption: {} }) - topics).toBeCloseTo(
      (7 * eventNames.length * 0.03) / 1e4,
      10,
    );
    expect(dollars('KMS', { deliveries: 1e9 })).toBeCloseTo(dollars('KMS', { deliveries: 1e8 }));
  });

  test('include nearly all traces at low rates and 5 % at high ones, and none without tracing', () => {
    const traces = (deliveries: number) => dollars('X-Ray', { deliveries }, { tracing: true }) / 5e-6;
    expect(traces(1_000) / 2_000).toBeCloseTo(1, 2);
    expect(traces(1e10) / 2e10).toBeCloseTo(0.05, 2);
    expect(dollars('X-Ray')).toBe(0);
  });
});

test('the log lines are about as long as those of the functions, with as many metrics', async () => {
  const lines: FunctionLogLine[] = [];
  const onLog = (line: FunctionLogLine) => void lines.push(line);
  // The samples are signed with this secret.
  const stack = await startTestStack({ secret: LOCAL_SECRET, onLog });
  const invoke = async (service: string, file: string) => {
    const event: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const result = await stack.functions.get(service)?.function.invoke(event);
    expect({ file, ok: result?.ok }).toEqual({ file, ok: true });
    return lines.filter(({ requestId }) => requestId === result?.requestId).map(({ text }) => text);
  };
  const names = eventNames.map(kebabCase);
  const written = { consumer: [] as string[], receiver: [] as string[] };
  // Consumers are invoked first: when the receiver's events are processed as well, the samples would be stale.
  for (const name of names) written.consumer.push(...(await invoke(name, `events/sqs/${name}.json`)));
  for (const name of names) {
    written.receiver.push(...(await invoke('receiver', `events/api-gateway/${name}.json`)));
  }
  await stack.close();
  for (const [service, texts] of Object.entries(written)) {
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / eventNames.length;
    const taken = LOG_BYTES[service as keyof typeof written];
    expect(Math.abs(bytes - taken) / taken).toBeLessThan(LOG_BYTES_TOLERANCE);
  }
  const texts = Object.values(written).flat();
  expect(texts.filter((text) => text.includes('"_aws"'))).toEqual([]);
  const filters = (await stageTemplate('prod')).ofType('AWS::Logs::MetricFilter');
  const counted = filters.filter(({ properties }) => texts.some(logFilter(properties.FilterPattern)));
  const metrics = new Set(counted.map(({ properties }) => properties.MetricTransformations[0].MetricName));
  expect(metrics.size).toBe(prod.customMetrics);
});

/** Several archive records of each sample, with ids that differ as much as the partner's. */
function sampleRecords(bodies: readonly string[], each: number): string {
  return bodies
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

describe('the archive', () => {
  const bodies = readSamples().map(({ name }) => readFileSync(`events/${name}.json`, 'utf8').trim());

  test('costs at most a third of a dollar for a million deliveries, and nothing if it is off', () => {
    const cost = (archive: Deployment['archive']) =>
      dollars('Firehose', {}, { archive }) + dollars('S3', {}, { archive });
    expect(cost(prod.archive)).toBeLessThanOrEqual(0.33);
    expect(cost({ ...prod.archive, days: 0 })).toBe(0);
  });

  test('is charged for each started 5 KB of a record', () => {
    const million = ((1e6 * 5 * 1024) / 2 ** 30) * 0.029;
    expect(dollars('Firehose', { payloadBytes: 350 })).toBeCloseTo(million);
    expect(dollars('Firehose', { payloadBytes: 5 * 1024 })).toBeCloseTo(2 * million);
  });

  test('has an object for each event and interval with records', () => {
    const objects = (deliveries: number) =>
      dollars('S3', { deliveries, payloadBytes: 0 }, { archive: { days: 1e-9 } }) / 5e-6;
    expect(objects(1e6)).toBeCloseTo(eventNames.length * (365.25 / 12) * 24 * 4, -2);
    // Two deliveries in the same interval are rare.
    expect(objects(60) / 60).toBeCloseTo(1, 2);
  });

  test('needs the length and the compressed share of a record of the samples', () => {
    const records = sampleRecords(bodies, 1);
    const mean = records.length / bodies.length;
    const body = bodies.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / bodies.length;
    const taken = ARCHIVE_SIZE.record + ARCHIVE_SIZE.escaped * body;
    expect(Math.abs(mean - taken) / mean).toBeLessThan(RECORDS_TOLERANCE);
    const many = sampleRecords(bodies, 500);
    const share = gzipSync(many).length / many.length;
    expect(ARCHIVE_SIZE.compressed).toBeGreaterThanOrEqual(share);
    expect(ARCHIVE_SIZE.compressed).toBeLessThan(2 * share);
  });
});

describe('a deployment', () => {
  test('has the settings of its stage, and the numbers of its resources', async () => {
    const every = await deployedAs('every-setting');
    expect(every).toMatchObject({
      gateway: 'rest',
      apiThrottle: { rate: 20_000 },
      secrets: 0,
      customMetrics: 4,
    });
    const alarms = (await stageTemplate('every-setting')).ofType('AWS::CloudWatch::Alarm');
    expect(every.alarms).toBe(alarms.length);
    expect(prod).toMatchObject({ gateway: 'http', secrets: 1, keys: 1, dashboards: 1, customMetrics: 3 });
  });

  test('has a table of its charges by service, with their sum', () => {
    const [head, ...rows] = costTable(prod, { ...defaultWorkload, deliveries: 10_000_000 });
    expect(head).toEqual(['Service', '10,000,000 deliveries', 'Standing']);
    expect(rows).toContainEqual(['API Gateway', '10.00', '0.00']);
    expect(rows.map(([service]) => service)).not.toContain('X-Ray');
    for (const column of [1, 2]) {
      const amounts = rows.map((cells) => Number(cells[column]));
      const sum = amounts.pop();
      expect(amounts.reduce((total, amount) => total + amount, 0)).toBeCloseTo(sum ?? Number.NaN, 1);
    }
  });
});

describe('a mix', () => {
  test('gives each event its share, and none to the others', () => {
    expect(parseMix('shop.updated=2,user.updated=1,shop.updated=1')).toMatchObject({
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
