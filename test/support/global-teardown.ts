import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export default async function tearDown(): Promise<void> {
  await globalThis.synthesiser?.close();
  if (process.env.TEST_ASSEMBLY)
    await rm(dirname(process.env.TEST_ASSEMBLY), { recursive: true, force: true });
}
