import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { backOffSeconds } from '../../../lambda/consumer/retry.ts';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { MAX_RECEIVES } from '../../../lambda/limits.ts';
import { BUNDLE_LIST, type BundleList } from '../../../lib/release/function-bundles.ts';
import { testAssembly } from '../../../test/support/test-assembly.ts';
import { adjustAssembly, SYNTHESIS_INPUTS, writeAssembly } from '../../start/local-assembly.ts';
import { appModules } from '../../start/saved-code.ts';

let root: string;
let syntheses: number;
let whileSynthesising: () => void;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'local-assembly-'));
  mkdirSync(join(root, 'lambda/receiver'), { recursive: true });
  save('export const answer = 1;');
  syntheses = 0;
  whileSynthesising = () => {};
});

afterEach(() => rmSync(root, { recursive: true }));

const save = (text: string, file = 'lambda/receiver/handler.ts') => writeFileSync(join(root, file), text);

/** Writes an assembly whose only file contains the source. */
async function synthesise(folder: string, overrides: object): Promise<void> {
  syntheses += 1;
  mkdirSync(join(folder, 'asset'), { recursive: true });
  const source = readFileSync(join(root, 'lambda/receiver/handler.ts'), 'utf8');
  whileSynthesising();
  writeFileSync(join(folder, 'asset/index.mjs'), `${source}${JSON.stringify(overrides)}`);
}

/** @returns the text of the assembly's only file */
async function start(name: string, overrides = {}): Promise<string> {
  const cached = { cache: join(root, 'cache'), inputs: [join(root, 'lambda')], synthesise };
  await writeAssembly(join(root, name), overrides, cached);
  return readFileSync(join(root, name, 'asset/index.mjs'), 'utf8');
}

test('does not synthesise again if nothing has changed', async () => {
  const first = await start('first');
  expect(await start('second')).toBe(first);
  expect(syntheses).toBe(1);
});

describe('synthesises again', () => {
  test.each<[string, () => unknown]>([
    ['when a source is saved', () => save('export const answer = 2;')],
    ['when a source is added that nothing imports yet', () => save('', 'lambda/receiver/answers.ts')],
    ['for another region of the environment', () => (process.env.CDK_DEFAULT_REGION = 'eu-central-1')],
  ])('%s', async (_, change) => {
    const { CDK_DEFAULT_REGION: before = '' } = process.env;
    process.env.CDK_DEFAULT_REGION = before;
    await start('first');
    change();
    await start('second');
    process.env.CDK_DEFAULT_REGION = before;
    expect(syntheses).toBe(2);
  });

  test('for another context, and stores only this assembly', async () => {
    await start('first');
    expect(await start('second', { gateway: 'rest' })).toContain('rest');
    await start('third', { gateway: 'rest' });
    expect(syntheses).toBe(2);
    expect(readdirSync(join(root, 'cache'))).toHaveLength(1);
  });

  test('if sources were saved during the synthesis', async () => {
    whileSynthesising = () => save('export const answer = 2;');
    await start('first');
    save('export const answer = 1;');
    await start('second');
    expect(syntheses).toBe(2);
  });
});

test('the digest covers every module of the app and of the functions', async () => {
  const bundles: BundleList = JSON.parse(readFileSync(join(testAssembly(), BUNDLE_LIST), 'utf8'));
  const files = [...(await appModules()), ...Object.values(bundles).flat()];
  expect(files).toEqual(
    expect.arrayContaining(['lib/partner-webhooks-stack.ts', 'lambda/receiver/handler.ts']),
  );
  const isCovered = (path: string) =>
    /^(\.\.|node_modules)\//.test(path) ||
    SYNTHESIS_INPUTS.some((input) => path === input || path.startsWith(`${input}/`));
  expect(files.filter((path) => !isCovered(path))).toEqual([]);
});

function differences(
  one: unknown,
  to: unknown,
  path: readonly string[] = [],
): { path: string; to: unknown }[] {
  if (typeof one !== 'object' || typeof to !== 'object' || one === null || to === null) {
    return one === to ? [] : [{ path: path.slice(2).join('.'), to }];
  }
  const [a, b] = [one as Record<string, unknown>, to as Record<string, unknown>];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].flatMap((key) => differences(a[key], b[key], [...path, key]));
}

/** @returns the new values in the template, by their paths in a resource, and the adjusted assembly */
async function adjusted(adjustments: Parameters<typeof adjustAssembly>[1]) {
  const folder = join(root, 'cdk.out');
  cpSync(testAssembly(), folder, { recursive: true });
  await adjustAssembly(folder, adjustments);
  const assembly = readCloudAssembly(folder);
  const found = differences(readCloudAssembly(testAssembly()).template, assembly.template);
  const kinds = Map.groupBy(found, ({ path }) => path);
  const changes = Object.fromEntries([...kinds].map(([path, all]) => [path, all.map(({ to }) => to)]));
  return { changes, assembly };
}

test('fast retries change only the first wait and the visibility timeout of each event; all attempts take ten seconds', async () => {
  const { changes } = await adjusted({ retryFast: true, inspected: new Set() });
  const { 'Properties.Environment.Variables.FIRST_RETRY_DELAY_SECONDS': delays = [], ...others } = changes;
  expect(others).toEqual({ 'Properties.VisibilityTimeout': eventNames.map(() => 5) });
  expect(delays).toHaveLength(eventNames.length);
  for (const delay of delays) {
    const waits = Array.from({ length: MAX_RECEIVES - 1 }, (_, index) =>
      backOffSeconds(index + 1, Number(delay), 0.5),
    );
    expect(waits.reduce((sum, seconds) => sum + seconds, 0)).toBe(10);
  }
});

test('a debugged function has readable code and twelve hours, and so have its queue and its API', async () => {
  const hours = 12 * 60 * 60;
  const inspected = ['receiver', 'shop-updated'];
  const { changes, assembly } = await adjusted({ retryFast: false, inspected: new Set(inspected) });
  expect(changes).toEqual({
    'Properties.Timeout': [hours, hours],
    'Properties.TimeoutInMillis': [hours * 1000],
    'Properties.VisibilityTimeout': [hours],
  });
  const readable = Object.values(assembly.template.Resources).filter(({ Type, Properties = {} }) => {
    if (Type !== 'AWS::Lambda::Function') return false;
    const { S3Key } = Properties.Code as { S3Key: string };
    const files = readdirSync(assembly.assetFolder(S3Key));
    return (
      files.includes('index.mjs') &&
      readFileSync(join(assembly.assetFolder(S3Key), 'index.mjs'), 'utf8').includes('sourceMappingURL')
    );
  });
  expect(readable).toHaveLength(inspected.length);
});
