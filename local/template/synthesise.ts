import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/**
 * Synthesises the CDK app in a process of its own, as the CDK's command line does, and without what
 * that one does besides.
 * @param folder where the cloud assembly goes
 * @param overrides of the context in `cdk.json`, as `-c` gives them
 * @throws Error with what the app wrote, where it fails
 */
export async function synthesise(folder: string, overrides: Record<string, unknown> = {}): Promise<void> {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> };
  const app = spawn(process.execPath, ['bin/app.ts'], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      CDK_OUTDIR: folder,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...overrides }),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  app.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code] = (await once(app, 'close')) as [number | null];
  if (code !== 0) throw new Error(`Synthesising the stack failed:\n${errors.trim()}`);
}
