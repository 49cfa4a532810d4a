import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSynthesiser, synthesiseOnce } from './synthesiser.ts';

/** Synthesises the stack once for all tests. Other variants come from the same process on demand. */
export default async function setUp(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-test-'));
  process.env.TEST_ASSEMBLY = join(folder, 'cdk.out');
  // The processes that tests start load the same modules repeatedly, which takes most of a command's time.
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  globalThis.endSynthesiser = await startSynthesiser();
  // `test/lib/partner-webhooks-stack.test.ts` checks every stage against CloudFormation's rules. The check takes 4 s,
  // so the stage that all tests wait for is not checked twice, and stacks that tests synthesise themselves are not
  // checked.
  process.env.CDK_VALIDATION = 'false';
  await synthesiseOnce({ folder: process.env.TEST_ASSEMBLY, overrides: {}, validate: false });
}

declare global {
  /** Ends the process that synthesises. */
  var endSynthesiser: (() => Promise<void>) | undefined;
}
