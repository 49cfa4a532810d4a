import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { backOffSeconds } from '../../../lambda/consumer/retry.ts';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { MAX_RECEIVES } from '../../../lambda/limits.ts';
import { testAssembly } from '../../../test/support/test-assembly.ts';
import { adjustAssembly } from '../../start/adjust-assembly.ts';

const folder = await mkdtemp(join(tmpdir(), 'adjusted-'));
const assembly = join(folder, 'cdk.out');
beforeEach(() => cp(testAssembly(), assembly, { recursive: true }));
afterAll(() => rm(folder, { recursive: true }));

interface Difference {
  /** Path in the resource. */
  readonly path: string;
  readonly to: unknown;
}

const templateOf = async (of: string) => {
  const { name } = readCloudAssembly(of);
  return JSON.parse(await readFile(join(of, `${name}.template.json`), 'utf8'));
};

function differences(one: unknown, to: unknown, path: readonly string[] = []): Difference[] {
  if (typeof one !== 'object' || typeof to !== 'object' || one === null || to === null) {
    return one === to ? [] : [{ path: path.slice(2).join('.'), to }];
  }
  const [a, b] = [one as Record<string, unknown>, to as Record<string, unknown>];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].flatMap((key) => differences(a[key], b[key], [...path, key]));
}

/** @returns the new values, by their paths in a resource */
async function changes(adjustments: Parameters<typeof adjustAssembly>[1]) {
  adjustAssembly(assembly, adjustments);
  const found = differences(await templateOf(testAssembly()), await templateOf(assembly));
  const kinds = Map.groupBy(found, ({ path }) => path);
  return Object.fromEntries([...kinds].map(([path, all]) => [path, all.map(({ to }) => to)]));
}

test('fast retries change only the first wait and the visibility timeout of each event; all attempts take ten seconds', async () => {
  const { 'Properties.Environment.Variables.FIRST_RETRY_DELAY_SECONDS': delays = [], ...others } =
    await changes({ retryFast: true, inspected: new Set() });
  expect(others).toEqual({ 'Properties.VisibilityTimeout': eventNames.map(() => 5) });
  expect(delays).toHaveLength(eventNames.length);
  for (const delay of delays) {
    const waits = Array.from({ length: MAX_RECEIVES - 1 }, (_, index) =>
      backOffSeconds(index + 1, Number(delay), 0.5),
    );
    expect(waits.reduce((sum, seconds) => sum + seconds, 0)).toBe(10);
  }
});

test('a debugged function has readable code and twelve hours, and so have its queue and its API', async () => {
  const hours = 12 * 60 * 60;
  expect(await changes({ retryFast: false, inspected: new Set(['receiver', 'shop-updated']) })).toEqual({
    'Properties.Code.S3Bucket': [undefined, undefined],
    'Properties.Code.S3Key': expect.arrayContaining(['inspected-receiver', 'inspected-shop-updated']),
    'Properties.Timeout': [hours, hours],
    'Properties.TimeoutInMillis': [hours * 1000],
    'Properties.VisibilityTimeout': [hours],
  });
});
