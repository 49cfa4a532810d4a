import { expect, test } from '@jest/globals';
import { testAssembly } from '../support/test-stack.ts';
import { soak } from './soak.ts';

test('1,000 deliveries under faults end in the state of the oracle', async () => {
  const report = await soak({ assembly: testAssembly(), deliveries: 1_000, seed: 1 });
  expect(report.differences).toEqual([]);
  // A run that nothing disturbs shows nothing.
  expect(Object.values(report.faults).reduce((sum, hits) => sum + hits)).toBeGreaterThan(100);
  expect(report.kills).toBeGreaterThanOrEqual(10);
  expect(report.answers['500'] ?? 0).toBeGreaterThan(0);
}, 300_000);
