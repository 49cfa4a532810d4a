import { expect, test } from '@jest/globals';
import { testAssembly } from '../../../test/support/test-assembly.ts';
import { soak } from './soak.ts';

// Takes half a minute, because of the delays of the last retries.
test('150 deliveries under faults end in the state of the oracle', async () => {
  // Each kill loads a function again, which takes most of the processor time. Each of the five functions is killed
  // twice.
  const report = await soak({ assembly: testAssembly(), deliveries: 150, seed: 1, kills: 10 });
  expect(report.differences).toEqual([]);
  // At least this many faults must have happened. Otherwise the run proves nothing.
  expect(Object.values(report.faults).reduce((sum, hits) => sum + hits)).toBeGreaterThan(25);
  expect(report.kills).toBeGreaterThanOrEqual(8);
  expect(report.answers['500'] ?? 0).toBeGreaterThan(0);
});
