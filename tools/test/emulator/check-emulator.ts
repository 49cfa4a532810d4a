import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { left, mustBeHealthy, mustRollBack } from './checks.ts';
import {
  type Emulator,
  fieldsOf,
  killAll,
  leadToEmulator,
  mustRun,
  optionsOf,
  run,
  type Stage,
  startEmulator,
} from './emulator.ts';
import { mustAnswer } from './queries.ts';

/** Stages that are deployed and checked one after another. Features that the emulator lacks are off. */
const STAGES: readonly Stage[] = [
  { name: 'dev' },
  { name: 'prod', fields: { deployment: 'all-at-once' } },
  { name: 'rest', like: 'dev', fields: { gateway: 'rest', encryption: {} } },
];

/**
 * Deploys each stage to an AWS emulator, as a person would to AWS, and runs the acceptance suite.
 * @throws Error that names the failed step
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
  // Without an app, which would be synthesised although the environment is given.
  await step('npx cdk bootstrap', () =>
    mustRun(['npx', 'cdk', 'bootstrap', emulator.cdkEnvironment, '--app', ''], emulator.environment),
  );
  for (const stage of STAGES) await checkStage(emulator, folder, stage);
}

async function checkStage(emulator: Emulator, folder: string, stage: Stage): Promise<void> {
  const { name } = stage;
  const { environment, settings } = emulator;
  const { removalPolicy } = fieldsOf(stage);
  const outputs = join(folder, `${name}.json`);
  const assembly = join(folder, name);
  const deploy = ['npx', 'cdk', 'deploy', '--require-approval', 'never', '--output', assembly];
  const before = await left(settings);

  await step(`npx cdk deploy, ${name}`, async () => {
    await mustRun([...deploy, '--outputs-file', outputs, ...optionsOf(stage)], environment);
    leadToEmulator(outputs, emulator.endpoint);
  });
  if (name === 'dev') {
    await step('Athena answers what operators ask of the archive', () => mustAnswer(settings, outputs));
  }
  await step(`npx hookctl acceptance, ${name}`, () => accept(emulator, outputs));
  if (name === 'dev') {
    await step('npx hookctl doctor finds nothing wrong', () => mustBeHealthy(name, environment));
    await step('A deployment whose smoke test fails is rolled back', () =>
      mustRollBack(settings, outputs, (options) => run([...deploy, ...options], environment)),
    );
  }
  // A stage that keeps its data refuses to be deleted. It ends with the emulator.
  if (removalPolicy !== 'destroy') return;
  // Not synthesised again: only the stack's name counts.
  await step(`npx cdk destroy, ${name}, leaves nothing`, async () => {
    await mustRun(['npx', 'cdk', 'destroy', '--force', '--app', assembly], environment);
    const names = (await left(settings)).filter((one) => !before.includes(one));
    if (names.length > 0) throw new Error(`The stack or the suite left behind:\n${names.join('\n')}`);
  });
}

/** Runs the acceptance suite in a process of its own, and prints its report as it arrives. */
async function accept({ environment, endpoint }: Emulator, outputs: string): Promise<void> {
  const { code } = await run(
    ['npx', 'hookctl', 'acceptance', '--outputs', outputs],
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
