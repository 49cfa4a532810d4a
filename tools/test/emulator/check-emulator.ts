import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Emulator, killAll, mustRun, startEmulator } from './emulator.ts';

/**
 * Deploys the stage `dev` to an AWS emulator, as a person would to AWS, runs the acceptance suite, and deletes the stage.
 * @throws Error with the output of the step that failed
 */
async function checkOnEmulator(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-emulator-'));
  process.on('exit', () => {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    process.on(signal, () => process.exit(code));
  }
  await step('Python packages', () => mustRun(['.ci/python-packages'], process.env));
  const emulator = await step('Emulator, with HTTPS and IAM', () =>
    startEmulator(resolve('.ci/venv/bin/python'), folder),
  );
  try {
    await check(emulator, folder);
  } catch (error) {
    console.error(`\nThe emulator wrote:\n${emulator.log()}`);
    throw error;
  } finally {
    await emulator.stop();
  }
}

async function check({ cdkEnvironment, environment, endpoint }: Emulator, folder: string) {
  const cdk = (...args: readonly string[]) => mustRun(['npx', 'cdk', ...args], environment);
  const outputs = join(folder, 'outputs.json');
  const assembly = join(folder, 'cdk.out');
  // Without an app, which would be synthesised although the environment is given.
  await step('npx cdk bootstrap', () => cdk('bootstrap', cdkEnvironment, '--app', ''));
  await step('npx cdk deploy', () =>
    cdk(
      ...['deploy', '--context', 'stage=dev', '--require-approval', 'never'],
      ...['--output', assembly, '--outputs-file', outputs],
    ),
  );
  await step('npx hookctl acceptance', () =>
    mustRun(
      ['npx', 'hookctl', 'acceptance', '--outputs', outputs],
      { ...environment, AWS_ENDPOINT_URL: endpoint },
      (text) => process.stdout.write(text),
    ),
  );
  // Not synthesised again: only the stack's name counts.
  await step('npx cdk destroy', () => cdk('destroy', '--force', '--app', assembly));
}

async function step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  console.log(`… ${name}`);
  const startedAt = Date.now();
  const result = await work();
  console.log(`✓ ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  return result;
}

await checkOnEmulator().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
