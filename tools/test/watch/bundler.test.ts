import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Bundler } from '../../watch/bundler.ts';

test('closing rejects builds that run or wait: esbuild would never settle them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-bundler-'));
  const bundler = new Bundler();
  const builds = ['one', 'two', 'three'].map((name) =>
    bundler.bundles([{ entry: 'lambda/receiver/handler.ts', folder: join(folder, name) }]),
  );
  const settled = Promise.allSettled(builds);
  await bundler.close();
  for (const { status } of await settled) expect(status).toBe('rejected');
  await rm(folder, { recursive: true });
});
