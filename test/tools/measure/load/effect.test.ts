import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { EffectReader } from '../../../../tools/measure/load/effect.ts';
import { load } from '../../../../tools/measure/load/load.ts';
import { Measurements } from '../../../../tools/measure/load/measurements.ts';
import { type LoadReport, makeReport } from '../../../../tools/measure/load/report.ts';
import { describeReport } from '../../../../tools/measure/load/report-text.ts';
import { Stage } from '../../../../tools/stage/stage.ts';
import { startTestStack, TEST_SECRET } from '../../../support/test-stack.ts';
import { objectKey, putObject } from '../../stage/archive/support.ts';
import { keptRate, planned } from './support.ts';

let stack: LocalStack;
let found: Stage;
let folder: string;

beforeAll(async () => {
  stack = await startTestStack();
  found = new Stage('the local stack', stack.outputs);
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
    printLine: (line: string) => said.push(line),
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
  expect(succeeded).toBe(keptRate(report));
  const drawn = await readFile(picture, 'utf8');
  expect(drawn).toMatch(/^<svg .*200 deliveries · 200 answered 200 · none without effect.*<\/svg>\n$/s);
}, 120_000);

test('deliveries that nobody accepts have none, and the run is no success', async () => {
  const { succeeded, said } = await loaded('22222222', { json: false, secret: 'another' });
  expect(succeeded).toBe(false);
  expect(said).toMatch(/It ended early: localhost:\d+ answers 401 and never 200: the secret is wrong\./);
  expect(said).not.toContain('another');
}, 120_000);

/** What is read of one delivery that was answered 200 and is not in the archive. */
async function readOfOne(run: string, signal: AbortSignal, archive = found) {
  const plan = planned({ run });
  const progress = { show: () => {}, end: () => {} };
  const operation = { stack: archive, signal, printLine: () => {}, width: 80, progress };
  const reader = await EffectReader.open(operation, plan);
  const measurements = new Measurements(plan);
  measurements.begin(0, 0);
  measurements.end({ number: 7, due: 0, at: 20, came: 200 });
  const url = new URL(stack.outputs.WebhookUrl ?? '');
  const ran = { plan, url, measurements, begin: Date.now(), lasted: 1_000, over: 1_020, loopDelay: 0 };
  return {
    read: async (patience?: number) => {
      const effect = await reader.read(ran, patience);
      return { effect, said: describeReport(makeReport(ran, effect), 200).join('\n') };
    },
  };
}

test('what was answered 200 and is not in the archive is missing', async () => {
  const one = await readOfOne('33333333', new AbortController().signal);
  const { effect, said } = await one.read(100);
  expect(effect).toMatchObject({ accepted: 1, missing: 1, outcomes: {} });
  expect(said).toContain('1 are missing: npm run dlq -- list');
});

test('what had not been read when it was interrupted is not missing', async () => {
  const interruption = new AbortController();
  const one = await readOfOne('44444444', interruption.signal);
  setTimeout(() => interruption.abort(), 100);
  const { effect, said } = await one.read();
  expect(effect).toMatchObject({ accepted: 1, missing: 0, unread: { count: 1, why: 'interrupted' } });
  expect(said).toContain('0 of 1 that were answered 200 are settled. 1 were not read: interrupted.');
  expect(said).not.toContain('dlq');
});

test('what was answered 200 and may be in a damaged object is not missing', async () => {
  const one = await readOfOne('66666666', new AbortController().signal);
  const key = objectKey('damaged', 'shop.updated', new Date().toISOString().slice(0, 13));
  await putObject(found, key, Buffer.from('no gzip'));
  const { effect, said } = await one.read(100);
  expect(effect).toMatchObject({
    missing: 0,
    unread: { count: 1, why: expect.stringContaining(`${key}: not gzip`) },
  });
  expect(said).toContain(`1 were not read: ${key}: not gzip`);
});

test('an archive that cannot be read any more leaves the receipts, and says why', async () => {
  const archive = new Stage('the local stack', { ...stack.outputs });
  try {
    const one = await readOfOne('55555555', new AbortController().signal, archive);
    Object.assign(archive.outputs, { ArchiveBucket: 'no-such-bucket' });
    const { effect, said } = await one.read();
    expect(effect).toMatchObject({
      missing: 0,
      unread: { count: 1, why: expect.stringMatching(/^NoSuchBucket: /) },
    });
    expect(said).toMatch(/200 +1 +100 %.*1 were not read: NoSuchBucket: /s);
  } finally {
    archive.close();
  }
});
