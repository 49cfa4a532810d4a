import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventNames } from '../../lambda/contract/catalogue.ts';
import { killAll, mustRun, run } from './command.ts';
import { devStageWith } from './dev-stage.ts';
import { type Emulator, startEmulator } from './emulator.ts';
import { left } from './left.ts';
import { mustRollBack } from './roll-back.ts';

/** Of each event its own queue and its dead letters'; of all together quarantine and unrouted. */
const QUEUES = 2 * eventNames.length + 2;

/** What `removalPolicy: retain` keeps: how many of each kind that the emulator lists. */
const RETAINED = { table: 4, queue: QUEUES, bucket: 1, secret: 1 };

/**
 * Deploys the stack as a person would to AWS, to an emulator of it, and runs the acceptance suite there.
 * @throws Error that names the step that failed
 */
export async function checkOnEmulator(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-emulator-'));
  process.on('exit', () => {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    process.on(signal, () => process.exit(code));
  }
  await step('Python packages', () => mustRun(['.ci/install-python-packages'], process.env));
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

async function check(emulator: Emulator, folder: string): Promise<void> {
  const outputs = join(folder, 'outputs.json');
  const command = (args: readonly string[]) => ['npx', 'cdk', ...args, '--output', join(folder, 'cdk.out')];
  const cdk = (...args: string[]) => mustRun(command(args), emulator.environment);
  const deploy = ['deploy', '--require-approval', 'never'];

  await step('npx cdk bootstrap', () => cdk('bootstrap', emulator.cdkEnvironment));
  await step('npx cdk deploy', () => cdk(...deploy, '--outputs-file', outputs));
  await step('npm run acceptance', () => accept(emulator, outputs));
  await step('A deployment whose smoke test fails is rolled back', () =>
    mustRollBack(emulator.settings, outputs, (options) =>
      run(command([...deploy, ...options]), emulator.environment),
    ),
  );
  await step('npx cdk destroy', () => cdk('destroy', '--force'));
  await step('Nothing is left of the stack', async () => {
    const names = await left(emulator.settings);
    if (names.length > 0) throw new Error(`The stack or the suite left behind:\n${names.join('\n')}`);
  });
  await step('What is retained survives npx cdk destroy', async () => {
    const retaining = devStageWith({ removalPolicy: 'retain' });
    await cdk(...deploy, ...retaining);
    await cdk('destroy', '--force', ...retaining);
    const names = await left(emulator.settings);
    const kinds = Object.groupBy(names, (name) => name.split(' ')[0] ?? '');
    const counts = Object.keys(RETAINED).map((kind) => [kind, kinds[kind]?.length ?? 0]);
    assert.deepEqual(Object.fromEntries(counts), RETAINED);
  });
}

/** The suite, as a person runs it; its report is shown as it comes. */
async function accept({ environment, endpoint }: Emulator, outputs: string): Promise<void> {
  const { code } = await run(
    ['npm', 'run', 'acceptance', '--', '--outputs', outputs],
    { ...environment, AWS_ENDPOINT_URL: endpoint },
    (text) => process.stdout.write(text),
  );
  if (code !== 0) throw new Error('The acceptance suite failed');
}

async function step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  console.log(`… ${name}`);
  const startedAt = Date.now();
  const result = await work();
  console.log(`✓ ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  return result;
}
