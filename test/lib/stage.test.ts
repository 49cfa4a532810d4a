import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { testAssembly } from '../support/test-stack.ts';
import { SynthesisedTemplate } from './synthesised-template.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-stage-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Synthesises a stage as `cdk synth -c stage=NAME` does. */
async function synthesiseStage(stage: string): Promise<SynthesisedTemplate> {
  const { context } = JSON.parse(await readFile('cdk.json', 'utf8'));
  const assembly = join(folder, stage);
  await promisify(execFile)(process.execPath, ['bin/app.ts'], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      CDK_OUTDIR: assembly,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, stage }),
    },
  });
  return new SynthesisedTemplate(assembly);
}

const kept = [
  'AWS::DynamoDB::Table',
  'AWS::SQS::Queue',
  'AWS::SecretsManager::Secret',
  'AWS::S3::Bucket',
  'AWS::KMS::Key',
  'AWS::Logs::LogGroup',
];

describe('the prod stage', () => {
  let prod: SynthesisedTemplate;

  beforeAll(async () => {
    prod = await synthesiseStage('prod');
  }, 60_000);

  test.each(kept)('retains every %s when its stack is deleted', (type) => {
    const lost = prod.ofType(type).filter(({ deletionPolicy }) => deletionPolicy !== 'Retain');
    expect(lost.map(({ path }) => path)).toEqual([]);
  });

  test('refuses to delete a table', () => {
    const unprotected = prod
      .ofType('AWS::DynamoDB::Table')
      .filter(({ properties }) => properties.DeletionProtectionEnabled !== true);
    expect(unprotected.map(({ path }) => path)).toEqual([]);
  });

  test('refuses to delete its stack', () => {
    expect(prod.terminationProtection).toBe(true);
  });

  test('has the resources of the dev stage', () => {
    const paths = (template: SynthesisedTemplate) =>
      template.resources
        .filter(({ type }) => type !== 'AWS::Lambda::EventSourceMapping')
        .map(({ path }) => path);
    expect(paths(prod)).toEqual(paths(new SynthesisedTemplate(testAssembly())));
  });
});

describe('the dev stage', () => {
  const dev = () => new SynthesisedTemplate(testAssembly());

  test.each(kept)('leaves no %s behind', (type) => {
    const left = dev()
      .ofType(type)
      .filter(({ deletionPolicy }) => deletionPolicy !== 'Delete');
    expect(left.map(({ path }) => path)).toEqual([]);
  });

  test('lets its stack be deleted', () => {
    expect(dev().terminationProtection).toBe(false);
  });
});

test.each(['staging', 'constructor'])(
  'the stage %j is refused, naming the stages that exist',
  async (name) => {
    await expect(synthesiseStage(name)).rejects.toMatchObject({
      stderr: expect.stringContaining(`No stage '${name}'. Use -c stage=NAME with one of: dev, prod`),
    });
  },
);
