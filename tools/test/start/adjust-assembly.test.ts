import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { readCloudAssembly } from 'local-aws/template';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { Partner } from '../../../test/support/partner.ts';
import { testAssembly } from '../../../test/support/test-assembly.ts';
import { startTestStack } from '../../../test/support/test-stack.ts';
import { traceDelivery } from '../../stage/history/trace.ts';
import { adjustAssembly } from '../../start/adjust-assembly.ts';
import { Operator } from '../stage/queues/support.ts';

let folder: string;
let assembly: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'adjusted-'));
  assembly = join(folder, 'cdk.out');
  await cp(testAssembly(), assembly, { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

const templateOf = async (of: string) => {
  const { name } = readCloudAssembly(of);
  return JSON.parse(await readFile(join(of, `${name}.template.json`), 'utf8'));
};

/** Paths at which two templates differ, without logical ids. */
function differences(one: unknown, other: unknown, path = ''): string[] {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return one === other ? [] : [path];
  }
  const [a, b] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].flatMap((key) => differences(a[key], b[key], `${path}.${key}`));
}

describe('fast retries', () => {
  let stack: LocalStack;
  let operator: Operator;

  beforeAll(async () => {
    adjustAssembly(assembly, { retryFast: true, inspected: new Set() });
    stack = await startTestStack({ assembly });
    operator = await Operator.create(stack);
  });
  afterAll(async () => {
    await operator?.close();
    await stack?.close();
  });

  test('change only the first wait and the visibility timeout of each event', async () => {
    const changed = differences(await templateOf(testAssembly()), await templateOf(assembly));
    const kinds = Map.groupBy(changed, (path) => path.split('.').slice(3).join('.'));
    expect(Object.fromEntries([...kinds].map(([kind, paths]) => [kind, paths.length]))).toEqual({
      'Properties.Environment.Variables.FIRST_RETRY_DELAY_SECONDS': eventNames.length,
      'Properties.VisibilityTimeout': eventNames.length,
    });
  });

  test('make ten visible attempts in about ten seconds', async () => {
    const end = stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
    const payload = { event: 'girl.created', data: { girl_id: 'girl-1' }, timestamp: '2026-01-31T09:00:00Z' };
    const { body } = await new Partner(stack.outputs.WebhookUrl).post(payload);
    const { signal } = new AbortController();
    const steps = await eventually(
      async () => {
        const trace = await traceDelivery(operator.stack, String(body.eventId), { signal }).catch(
          () => undefined,
        );
        const all = trace?.history.steps ?? [];
        return all.some(({ kind }) => kind === 'dead-lettered') ? all : undefined;
      },
      { interval: 500 },
    );
    end();
    expect(steps.filter(({ kind }) => kind === 'failed')).toHaveLength(9);
    const dead = steps.find(({ kind }) => kind === 'dead-lettered');
    const seconds = (Date.parse(dead?.at ?? '') - Date.parse(steps[0]?.at ?? '')) / 1000;
    expect(seconds).toBeGreaterThan(5);
    expect(seconds).toBeLessThan(40);
  });
});

test('of an inspected receiver only its own timeout, code and API change', async () => {
  const other = join(folder, 'inspected');
  await cp(testAssembly(), other, { recursive: true });
  adjustAssembly(other, { retryFast: false, inspected: new Set(['receiver']) });
  const changed = differences(await templateOf(testAssembly()), await templateOf(other));
  expect(changed.map((path) => path.split('.').slice(3).join('.')).sort()).toEqual([
    'Properties.Code.S3Bucket',
    'Properties.Code.S3Key',
    'Properties.Timeout',
    'Properties.TimeoutInMillis',
  ]);
});
