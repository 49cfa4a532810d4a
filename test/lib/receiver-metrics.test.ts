import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { readProbes } from '../../lambda/smoke-test/probes.ts';
import { logFilter } from '../../local/aws/logs/log-filter.ts';
import type { LocalStack } from '../../local/local-stack.ts';
import { SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { rings } from '../support/alarm-evaluation.ts';
import { eventually } from '../support/eventually.ts';
import { Partner } from '../support/partner.ts';
import { startTestStack, testAssembly } from '../support/test-stack.ts';

const template = new SynthesisedTemplate(testAssembly());
const alarm = (path: string) => template.at('AWS::CloudWatch::Alarm', path).properties;
/** What the alarms look at is what a deployed function publishes: in the namespace of its stack. */
const namespace = 'PartnerWebhooks-dev';

const timestamp = new Date().toISOString();
const shop = { event: 'shop.updated', data: { shop_id: 's' }, timestamp };
const WRONG = 'f'.repeat(64);

/** What is sent to the receiver. */
const deliveries = {
  accepted: (partner: Partner) => partner.post(shop),
  parked: (partner: Partner) => partner.post({ ...shop, event: 'example.unknown' }),
  unusable: (partner: Partner) => partner.post({ ...shop, data: {} }),
  'wrongly signed': (partner: Partner) => partner.post(shop, { signature: WRONG }),
  'with a malformed signature': (partner: Partner) => partner.post(shop, { signature: 'nonsense' }),
  'without a signature': (partner: Partner) => partner.post(shop, { signature: undefined }),
};

type Kind = keyof typeof deliveries | 'from the smoke test';

let stack: LocalStack;
/** Every line of the receiver, and those of a delivery by its request id. */
const texts: string[] = [];
const requestIds = new Map<Kind, unknown>();
const linesAbout = (kind: Kind) =>
  texts.filter((text) => text.includes(`"requestId":"${requestIds.get(kind)}"`));

beforeAll(async () => {
  stack = await startTestStack({
    environment: { POWERTOOLS_METRICS_NAMESPACE: namespace },
    onLog: (line) => {
      if (line.functionName === 'receiver') texts.push(line.text);
    },
  });
  const partner = new Partner(stack.outputs.WebhookUrl);
  for (const [kind, send] of Object.entries(deliveries)) {
    const { body } = await send(partner);
    requestIds.set(kind as keyof typeof deliveries, body.requestId);
  }
  const Receiver = 'arn:aws:lambda:eu-central-1:111122223333:function:receiver:1';
  const event = readProbes({ Receiver, Consumers: [] })[0]?.event as APIGatewayProxyEventV2;
  requestIds.set('from the smoke test', event.requestContext.requestId);
  await stack.functions.get('receiver')?.function.invoke(event);
  await eventually(
    async () => [...requestIds.keys()].every((kind) => linesAbout(kind).length > 0) || undefined,
  );
});
afterAll(() => stack.close());

/** The values that the template's filters make of log lines, for a metric. */
function counted(metric: string, written: readonly string[]): number[] {
  const filters = template
    .ofType('AWS::Logs::MetricFilter')
    .filter(
      ({ properties }) =>
        properties.MetricTransformations[0].MetricName === metric &&
        template.referred(properties.LogGroupName) === 'Receiver/Log',
    );
  return filters.flatMap(({ properties }) => {
    const [{ MetricNamespace, MetricValue }] = properties.MetricTransformations;
    expect(MetricNamespace).toBe(namespace);
    const field = /^\$\.(\w+)$/.exec(MetricValue)?.[1];
    return written
      .filter(logFilter(properties.FilterPattern))
      .map((text) => Number(field === undefined ? MetricValue : JSON.parse(text)[field]));
  });
}
const verified = (written: readonly string[]) => counted('Verified', written);
const verifiedBy = (...kinds: Kind[]) => kinds.flatMap((kind) => verified(linesAbout(kind)));

describe('Verified, of what the receiver really writes about a delivery', () => {
  test.each<[Kind, number[]]>([
    ['accepted', [1]],
    ['parked', [1]],
    ['unusable', [1]],
    ['wrongly signed', [0]],
    ['with a malformed signature', []],
    ['without a signature', []],
    ['from the smoke test', []],
  ])('%s, is %j', (kind, values) => {
    expect(verifiedBy(kind)).toEqual(values);
  });

  test('is nothing else, such as the lines of metrics', () => {
    expect(verified(texts).sort()).toEqual([0, 1, 1, 1]);
    expect(texts.some((text) => text.startsWith('{"_aws"'))).toBe(true);
  });

  test('rings for wrong signatures alone', () => {
    const rung = alarm('Receiver/WrongSecret');
    expect([rung.Namespace, rung.MetricName, rung.Dimensions]).toEqual([namespace, 'Verified', undefined]);
    expect(rings(rung, [verifiedBy('wrongly signed', 'with a malformed signature')])).toBe(true);
    expect(rings(rung, [verifiedBy('wrongly signed', 'unusable')])).toBe(false);
    expect(rings(rung, [verifiedBy('from the smoke test', 'without a signature')])).toBe(false);
  });
});

test('the lag of what is accepted, and of nothing else, is what its alarm looks at', () => {
  const { Namespace, MetricName, Dimensions } = alarm('Lag');
  expect([Namespace, MetricName, Dimensions]).toEqual([namespace, 'DeliveryLag', undefined]);
  const [lag, ...more] = counted(MetricName, texts);
  expect(more).toEqual([]);
  expect(lag).toBeGreaterThanOrEqual(0);
  expect(lag).toBeLessThan(60_000);
});

test('what is put aside is counted once: of an unknown kind, or not to be understood', () => {
  expect(counted(alarm('PutAside').MetricName, texts)).toEqual([1, 1]);
});

test('an event that is accepted is one line: a log is paid by the byte', () => {
  expect(linesAbout('accepted')).toHaveLength(1);
  expect(
    Object.keys(JSON.parse(linesAbout('accepted')[0] ?? '')).filter((key) => key !== 'cold_start'),
  ).toEqual(['level', 'message', 'timestamp', 'service', 'eventId', 'requestId', 'event', 'lagMs']);
});
