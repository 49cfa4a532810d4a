import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../local/local-stack.ts';
import { EffectReader } from '../../../tools/load/effect.ts';
import { load } from '../../../tools/load/load.ts';
import { Measurements } from '../../../tools/load/measurements.ts';
import type { LoadReport } from '../../../tools/load/report.ts';
import { type FoundStack, stackOfOutputs } from '../../../tools/operate/stack.ts';
import { startTestStack, TEST_SECRET } from '../../support/test-stack.ts';
import { planned } from './support.ts';

let stack: LocalStack;
let found: FoundStack;
let folder: string;

beforeAll(async () => {
  stack = await startTestStack();
  found = stackOfOutputs('the local stack', stack.outputs);
  folder = await mkdtemp(join(tmpdir(), 'load-test-'));
}, 120_000);

afterAll(async () => {
  found?.close();
  await stack?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Loads the stack, and gives back what was said. */
async function loaded(
  run: string,
  given: { readonly json: boolean; readonly secret?: string; picture?: string },
) {
  const said: string[] = [];
  const operation = {
    stack: found,
    signal: new AbortController().signal,
    say: (line: string) => said.push(line),
    width: 120,
    progress: { show: () => {}, end: () => {} },
  };
  const succeeded = await load(operation, {
    plan: planned({ run, rate: 50, seconds: 4 }),
    url: new URL(stack.outputs.WebhookUrl ?? ''),
    secret: TEST_SECRET,
    dryRun: false,
    yes: false,
    ...given,
  });
  return { succeeded, said: said.join('\n') };
}

test('all deliveries of a run have their effect, and how long each took is told and drawn', async () => {
  const picture = join(folder, 'load.svg');
  const { succeeded, said } = await loaded('11111111', { json: true, picture });
  const report: LoadReport = JSON.parse(said);
  expect(report).toMatchObject({
    endings: [{ came: 200, count: 200 }],
    receipt: { count: 200 },
    effect: { accepted: 200, missing: 0, unanswered: 0, latency: { count: 200 } },
  });
  expect(succeeded).toBe(true);
  const drawn = await readFile(picture, 'utf8');
  expect(drawn).toMatch(/^<svg .*200 deliveries · 200 answered 200 · none without effect.*<\/svg>\n$/s);
}, 120_000);

test('deliveries that nobody accepts have none, and the run is no success', async () => {
  const { succeeded, said } = await loaded('22222222', { json: false, secret: 'another' });
  expect(succeeded).toBe(false);
  expect(said).toMatch(/It ended early: localhost:\d+ answers 401 and nothing else: the secret is wrong\./);
  expect(said).not.toContain('another');
}, 120_000);

test('what was answered 200 and is not in the archive is missing', async () => {
  const plan = planned({ run: '33333333' });
  const signal = new AbortController().signal;
  const progress = { show: () => {}, end: () => {} };
  const reader = await EffectReader.open({ stack: found, signal, say: () => {}, width: 80, progress }, plan);
  const measurements = new Measurements(plan);
  measurements.end({ number: 7, due: 0, at: 20, came: 200 });
  const url = new URL(stack.outputs.WebhookUrl ?? '');
  const run = { plan, url, measurements, begin: Date.now(), lasted: 1_000, loopDelay: 0 };
  expect(await reader.read(run, 100)).toMatchObject({ accepted: 1, missing: 1, outcomes: {} });
});
