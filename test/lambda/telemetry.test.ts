import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { consumerContext } from '../support/function-environment.ts';
import { FunctionLines } from './function-lines.ts';

const TRACE = '1-5759e988-bd862e3fe1be46a994272793';

const environment = { ...process.env };
const lines = new FunctionLines();

let loaded = 0;
/** Loads the module again, as a new execution environment does. */
async function load(): Promise<typeof import('../../lambda/telemetry.ts')> {
  loaded += 1;
  return import(`../../lambda/telemetry.ts?loaded=${loaded}`);
}

beforeEach(() => {
  process.env = { ...environment, POWERTOOLS_SERVICE_NAME: 'receiver' };
  lines.capture();
});
afterEach(() => {
  jest.restoreAllMocks();
  process.env = environment;
});

test.each<[what: string, level: 'info' | 'warn', invocation: number, sampled: 0 | 1, more: object]>([
  ['nothing that the log group tells', 'info', 2, 0, {}],
  ['a mark for the first invocation of an environment', 'info', 1, 0, { cold_start: true }],
  ['the request id of Lambda if it is a warning', 'warn', 2, 0, { function_request_id: 'request' }],
  ['the trace id if X-Ray samples the invocation', 'info', 2, 1, { xray_trace_id: TRACE }],
])('a log line has the service, its own facts, and %s', async (_, level, invocation, sampled, more) => {
  process.env._X_AMZN_TRACE_ID = `Root=${TRACE};Parent=53995c3f42cd8ad8;Sampled=${sampled}`;
  const { log, startInvocation } = await load();
  for (let each = 1; each <= invocation; each += 1) startInvocation(consumerContext);
  log[level]('Parked', { eventId: 'event-1' });
  const common = { level: level.toUpperCase(), message: 'Parked', timestamp: expect.any(String) };
  expect(lines.logged).toEqual([{ ...common, service: 'receiver', eventId: 'event-1', ...more }]);
});

test('a metric is a document of the embedded metric format, with its values beside its description', async () => {
  process.env.POWERTOOLS_METRICS_NAMESPACE = 'PartnerWebhooks-prod';
  const { count } = await load();
  const before = Date.now();
  count('Rejected', { reason: 'wrong-signature' });
  const [[text] = []] = jest.mocked(process.stdout.write).mock.calls;
  expect(text).toMatch(/^[^\n]+\n$/);
  const { _aws, ...values } = JSON.parse(String(text));
  expect(values).toEqual({ service: 'receiver', reason: 'wrong-signature', Rejected: 1 });
  expect(_aws.Timestamp).toBeGreaterThanOrEqual(before);
  expect(_aws.CloudWatchMetrics).toEqual([
    {
      Namespace: 'PartnerWebhooks-prod',
      Dimensions: [['service', 'reason']],
      Metrics: [{ Name: 'Rejected', Unit: 'Count' }],
    },
  ]);
});
