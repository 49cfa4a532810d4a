import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesise } from '../../local/template/synthesise.ts';

/** Synthesises the stack once for all tests, as `npm start` does. */
export default async function setUp(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-test-'));
  process.env.TEST_ASSEMBLY = join(folder, 'cdk.out');
  await synthesise(process.env.TEST_ASSEMBLY);
}
