import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { synthesise } from '../../local/template/synthesise.ts';

/** Synthesises the stack for the tests of all mutants: the functions' code holds every one, and one is on at a time. */
export default async function setUp(): Promise<void> {
  process.env.TEST_ASSEMBLY = resolve('cdk.out');
  if (!existsSync(process.env.TEST_ASSEMBLY)) await synthesise(process.env.TEST_ASSEMBLY);
}
