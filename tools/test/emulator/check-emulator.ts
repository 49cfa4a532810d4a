import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { readTarget } from '../../../test/acceptance/target.ts';
import {
  left,
  mustBeHealthy,
  mustBeProtected,
  mustOutlastShortage,
  mustRollBack,
  mustShow,
  unprotect,
} from './checks.ts';
import {
  type ClientSettings,
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

/** Number of queues of a stage: two for each event, and the shared quarantine and unrouted queues. */
const QUEUES = 2 * eventNames.length + 2;

/** Number of resources that `removalPolicy: retain` keeps, by kind, as far as the emulator lists them. */
const RETAINED = { table: 4, queue: QUEUES, bucket: 2, secret: 1 };

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
  const { removalPolicy, terminationProtection, gateway } = fieldsOf(stage);
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
    await step('The console of a stage shows a delivery, and pauses an event', () =>
      mustShow(name, outputs, emulator),
    );
    await step('A deployment whose smoke test fails is rolled back', () =>
      mustRollBack(settings, outputs, (options) => run([...deploy, ...options], environment)),
    );
  }
  if (gateway === 'rest') {
    await step('A shortage of concurrency is 500, and costs no delivery', () =>
      mustOutlastShortage(settings, outputs),
    );
  }
  if (terminationProtection !== false) {
    await step(`${name} refuses to be deleted`, () => unprotect(settings, readTarget(outputs).stackName));
  }
  // Not synthesised again: only the stack's name counts.
  await step(`npx cdk destroy, ${name}`, () =>
    mustRun(['npx', 'cdk', 'destroy', '--force', '--app', assembly], environment),
  );
  const names = (await left(settings)).filter((one) => !before.includes(one));
  if (removalPolicy === 'destroy') {
    await step(`Nothing is left of ${name}`, async () => {
      if (names.length > 0) throw new Error(`The stack or the suite left behind:\n${names.join('\n')}`);
    });
  } else {
    await step(`What ${name} retains is left, and nothing else`, () => mustBeRetained(settings, names));
  }
}

/** @param names of resources that must be left */
async function mustBeRetained(settings: ClientSettings, names: readonly string[]): Promise<void> {
  const kinds = Map.groupBy(names, (name) => name.split(' ')[0] ?? '');
  const counts = [...kinds].map(([kind, { length }]) => [kind, length]);
  assert.deepEqual(Object.fromEntries(counts), RETAINED, names.join('\n'));
  const tables = kinds.get('table') ?? [];
  await mustBeProtected(
    settings,
    tables.map((name) => name.slice('table '.length)),
  );
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
