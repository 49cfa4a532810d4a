import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Synthesiser, synthesiseOnce } from '../../../test/support/synthesiser.ts';
import { stageOverrides } from '../../local/template/synthesise.ts';

/**
 * Synthesises the stack for the tests of all mutants, with either gateway: the functions' code holds every one, and one
 * is on at a time.
 */
export default async function setUp(): Promise<void> {
  process.env.TEST_ASSEMBLY = resolve('cdk.out');
  if (existsSync(process.env.TEST_ASSEMBLY)) return;
  const synthesiser = await Synthesiser.start();
  await synthesiseOnce({ folder: process.env.TEST_ASSEMBLY, overrides: {} });
  await synthesiseOnce({ folder: resolve('rest'), overrides: stageOverrides({ gateway: 'rest' }) });
  await synthesiser.close();
}
