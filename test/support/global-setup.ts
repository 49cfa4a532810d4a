import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Synthesiser, synthesiseOnce } from './synthesiser.ts';

/** Synthesises the stack once for all tests. What else tests need of it, they ask the same process for. */
export default async function setUp(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-test-'));
  process.env.TEST_ASSEMBLY = join(folder, 'cdk.out');
  // The processes that tests start load the same modules again and again, which takes most of a command's time.
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  globalThis.synthesiser = await Synthesiser.start();
  // `test/lib/partner-webhooks-stack.test.ts` has that process hold every stage against CloudFormation's rules. It takes 4 s: the
  // stage that all wait for is not held against them twice, and what some tests synthesise themselves is not, either.
  process.env.CDK_VALIDATION = 'false';
  await synthesiseOnce({ folder: process.env.TEST_ASSEMBLY, overrides: {}, validate: false });
}

declare global {
  /** For the global teardown. */
  var synthesiser: Synthesiser | undefined;
}
