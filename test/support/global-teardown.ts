import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export default async function tearDown(): Promise<void> {
  await globalThis.endSynthesiser?.();
  if (process.env.TEST_ASSEMBLY === undefined) return;
  // A process that is about to end may still write to its compile cache there.
  await rm(dirname(process.env.TEST_ASSEMBLY), { recursive: true, force: true, maxRetries: 5 });
}
