import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { stageOverrides } from '../../../bin/synthesise.ts';
import { Synthesiser, synthesiseOnce } from '../../../test/support/synthesiser.ts';

/**
 * Global set-up of Jest: synthesises the stack once for all mutants, with either gateway. The functions' code
 * contains all mutants, and one at a time is active.
 */
export default async function setUp(): Promise<void> {
  process.env.TEST_ASSEMBLY = resolve('cdk.out');
  if (existsSync(process.env.TEST_ASSEMBLY)) return;
  const synthesiser = await Synthesiser.start();
  await synthesiseOnce({ folder: process.env.TEST_ASSEMBLY, overrides: {} });
  await synthesiseOnce({ folder: resolve('rest'), overrides: stageOverrides({ gateway: 'rest' }) });
  await synthesiser.close();
}
