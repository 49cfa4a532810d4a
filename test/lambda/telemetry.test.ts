import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
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

describe('a log line', () => {
  /** The line that an invocation writes, without level, message and time. */
  async function lineOf({ level = 'info' as 'info' | 'warn', invocation = 2, sampled = 0 }) {
    process.env._X_AMZN_TRACE_ID = `Root=${TRACE};Parent=53995c3f42cd8ad8;Sampled=${sampled}`;
    const { log, startInvocation } = await load();
    for (let each = 1; each <= invocation; each += 1) startInvocation(consumerContext);
    log[level]('Parked', { eventId: 'event-1' });
    const [{ level: _level, message: _message, timestamp: _time, ...line } = {}] = lines.logged;
    return line;
  }

  const facts = { service: 'receiver', eventId: 'event-1' };

  test('has the service and its own facts, and nothing that the log group tells', async () => {
    expect(await lineOf({})).toEqual(facts);
  });

  test('marks the first invocation of an environment', async () => {
    expect(await lineOf({ invocation: 1 })).toEqual({ ...facts, cold_start: true });
  });

  test('has the request id of Lambda if it is a warning', async () => {
    expect(await lineOf({ level: 'warn' })).toEqual({ ...facts, function_request_id: 'request' });
  });

  test('has the trace id if X-Ray samples the invocation', async () => {
    expect(await lineOf({ sampled: 1 })).toEqual({ ...facts, xray_trace_id: TRACE });
  });
});
