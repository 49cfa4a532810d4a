import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EffectReader } from '../../../../tools/measure/load/effect.ts';
import { STALE_WITHIN } from '../../../../tools/measure/load/generator.ts';
import { load } from '../../../../tools/measure/load/load.ts';
import { Measurements } from '../../../../tools/measure/load/measurements.ts';
import type { LoadPlan } from '../../../../tools/measure/load/plan.ts';
import { type LoadReport, makeReport } from '../../../../tools/measure/load/report.ts';
import { describeReport } from '../../../../tools/measure/load/report-text.ts';
import { type RunOptions, runLoad } from '../../../../tools/measure/load/run.ts';
import { Stage } from '../../../../tools/stage/stage.ts';
import { type SharedStack, sharedStack } from '../../../support/shared-stack.ts';
import { TEST_SECRET } from '../../../support/test-stack.ts';
import { deleteObjects, objectKey, putObject } from '../../stage/archive/support.ts';
import { Operator } from '../../stage/queues/support.ts';
import { planned } from './support.ts';

const UNREAD = { why: 'nobody asked.' };
const progress = { show: () => {}, end: () => {} };
const never = new AbortController().signal;

/** A receiver whose answer depends on the milliseconds since the first request, and on the request's number. */
async function receive(answer: (response: ServerResponse, sinceFirst: number, count: number) => void) {
  const requests = { count: 0, unanswered: 0, mostUnanswered: 0 };
  let first: number | undefined;
  const server = createServer((request, response) => {
    first ??= performance.now();
    const sinceFirst = performance.now() - first;
    requests.count += 1;
    requests.unanswered += 1;
    requests.mostUnanswered = Math.max(requests.mostUnanswered, requests.unanswered);
    response.once('close', () => {
      requests.unanswered -= 1;
    });
    const { count } = requests;
    request.resume().once('end', () => answer(response, sinceFirst, count));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    requests,
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/webhooks/partner`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

const ran = (
  plan: LoadPlan,
  url: URL,
  { signal = never, ...given }: Partial<Pick<RunOptions, 'signal' | 'maxUnderWay'>> = {},
) => runLoad({ plan, url, secret: TEST_SECRET, signal, progress, warn: () => {}, ...given });

describe('a load test', () => {
  /** From `begin` on, the receiver does not answer for this time. */
  const STALL = { begin: 250, milliseconds: 500 };

  test.each([1_000, 2])(
    'shows a stall by all that came meanwhile, with %s connections',
    async (connections) => {
      await using receiver = await receive((response, sinceFirst) => {
        const left = STALL.begin + STALL.milliseconds - sinceFirst;
        setTimeout(() => response.end(), sinceFirst >= STALL.begin && left > 0 ? left : 0);
      });
      const { measurements } = await ran(planned({ rate: 200, connections }), receiver.url);
      expect(measurements.accepted.size).toBe(200);
      // During half a second, 100 requests wait, for times spread evenly from zero to half a second. About 75 of them
      // wait for longer than a quarter of it.
      expect(measurements.receipt.percentile(80)).toBeGreaterThan(STALL.milliseconds / 4);
      expect(measurements.receipt.percentile(95)).toBeGreaterThan(STALL.milliseconds / 2);
      if (connections === 2) return;
      // It sends by the clock, regardless of how long answers take.
      expect(receiver.requests.mostUnanswered).toBeGreaterThan(20);
    },
  );

  test('counts each kind of answer, and a connection that is reset late as a failed delivery', async () => {
    await using receiver = await receive((response, _, count) => {
      if (count % 4 === 0) setTimeout(() => response.socket?.resetAndDestroy(), 2 * STALE_WITHIN);
      else response.writeHead(count % 4 === 1 ? 429 : 200).end();
    });
    const report = makeReport(await ran(planned(), receiver.url), UNREAD);
    expect(report.endings.toSorted((one, other) => other.count - one.count)).toEqual([
      { came: 200, count: 50 },
      { came: 429, count: 25 },
      { came: 'ECONNRESET', count: 25 },
    ]);
    expect(report.deliveries).toMatchObject({ sent: 100, sentAgain: 0, accepted: 50 });
    expect(report.succeeded).toBe(false);
    expect(describeReport(report, 100).join('\n')).toMatch(/429 +25 +25 % +throttled/);
  });

  test('repeats once, and counts, a delivery whose connection is reset at once', async () => {
    const times = new Map<unknown, number>();
    await using receiver = await receive((response, sinceFirst) => {
      const signature = response.req.headers['x-webhook-signature'];
      times.set(signature, (times.get(signature) ?? 0) + 1);
      // First, connections are created that are idle later, so that a retry finds one of them.
      if (sinceFirst < 200) setTimeout(() => response.end(), 300);
      else response.socket?.resetAndDestroy();
    });
    const report = makeReport(await ran(planned(), receiver.url), UNREAD);
    const { sent, sentAgain, accepted } = report.deliveries;
    expect(Math.max(...times.values())).toBe(2);
    expect(receiver.requests.count).toBe(sent + sentAgain);
    expect(report.endings).toContainEqual({ came: 'ECONNRESET', count: sent - accepted });
    expect(describeReport(report, 200).join('\n')).toMatch(new RegExp(`sent again +${sentAgain}, once each`));
  });

  test('ends early if too many deliveries are under way for the memory', async () => {
    await using receiver = await receive(() => {});
    const run = await ran(planned({ rate: 400, seconds: 60 }), receiver.url, { maxUnderWay: 50 });
    expect(run.ended).toMatch(
      /^\d+ deliveries wait for an answer of 127\.0\.0\.1:\d+\. The limit for this machine is 50\./,
    );
    expect(run.lasted).toBeLessThan(8_000);
  });

  test('that is interrupted reports its results, and does not count deliveries under way as unanswered', async () => {
    const interruption = new AbortController();
    await using receiver = await receive((response, _, count) => {
      if (count <= 10) response.end();
      if (count === 20) interruption.abort();
    });
    const plan = planned({ seconds: 60 });
    const report = makeReport(await ran(plan, receiver.url, { signal: interruption.signal }), UNREAD);
    const { sent, wanted } = report.deliveries;
    expect(report).toMatchObject({ ended: 'It was interrupted.', succeeded: false });
    expect(sent).toBeLessThan(wanted);
    const underWay = { came: 'under way', count: sent - 10 };
    expect(report.endings.toSorted((one, other) => one.count - other.count)).toHaveLength(2);
    expect(report.endings).toEqual(expect.arrayContaining([{ came: 200, count: 10 }, underWay]));
    expect(report.receipt.count).toBe(10);
  });

  test('that is interrupted before its first delivery has no negative duration', async () => {
    const run = await ran(planned(), new URL('http://127.0.0.1:1/'), { signal: AbortSignal.abort() });
    expect(run.ended).toBe('It was interrupted.');
    // Zero if the machine was ready before the planned start.
    expect(Math.min(run.lasted, run.over)).toBeGreaterThanOrEqual(0);
    expect(describeReport(makeReport(run, UNREAD), 80).join('\n')).toMatch(/sent +0, 0 a second/);
  });
});

describe('a load test of a stack', () => {
  let stack: SharedStack;
  let operator: Operator;
  beforeAll(async () => {
    stack = await sharedStack();
    operator = await Operator.create(stack);
  });
  afterAll(() => operator.close());

  /** Runs a load test on the stack. @returns the output */
  async function loaded(
    run: string,
    { seconds = 1, ...given }: { json: boolean; seconds?: number; secret?: string; picture?: string },
  ) {
    const operation = { ...operator.operation(), width: 120 };
    const options = { secret: TEST_SECRET, dryRun: false, yes: false, ...given };
    const url = new URL(stack.outputs.WebhookUrl ?? '');
    const succeeded = await load(operation, { ...options, plan: planned({ run, rate: 50, seconds }), url });
    return { succeeded, said: operation.said.join('\n') };
  }

  test('reports the effects of all deliveries, and how long each took, also as a picture', async () => {
    const picture = operator.path('load.svg');
    const { succeeded, said } = await loaded('11111111', { json: true, picture });
    const report: LoadReport = JSON.parse(said);
    expect(report).toMatchObject({
      endings: [{ came: 200, count: 50 }],
      receipt: { count: 50 },
      effect: { accepted: 50, missing: 0, unanswered: 0, latency: { count: 50 } },
    });
    // A busy computer may be too slow for a moment.
    const isSlow = report.sender.doubts.some((doubt) =>
      /cannot keep the rate|were sent more than/.test(doubt),
    );
    expect(succeeded).toBe(!isSlow);
    expect(await readFile(picture, 'utf8')).toMatch(
      /^<svg .*50 deliveries · 50 answered 200 · none without effect.*<\/svg>\n$/s,
    );
  });

  test('ends early and fails if nobody accepts the deliveries', async () => {
    const { succeeded, said } = await loaded('22222222', { json: false, seconds: 60, secret: 'another' });
    expect(succeeded).toBe(false);
    expect(said).toMatch(/It ended early: localhost:\d+ answers 401 and never 200: the secret is wrong\./);
    expect(said).not.toContain('another');
  });

  /** Reads the effect of one delivery that was answered 200 and is not in the archive. */
  async function readOfOne(
    run: string,
    { signal = never, patience = 100, meanwhile = async (_archive: Stage) => {} },
  ) {
    const plan = planned({ run });
    const archive = new Stage('the local stack', { ...stack.outputs });
    const operation = { stack: archive, signal, printLine: () => {}, width: 80, progress };
    const reader = await EffectReader.open(operation, plan);
    await meanwhile(archive);
    const measurements = new Measurements(plan);
    measurements.begin(0, 0);
    measurements.end({ number: 7, due: 0, at: 20, came: 200 });
    const url = new URL(archive.webhookUrl);
    const sent = { plan, url, measurements, begin: Date.now(), lasted: 1_000, over: 1_020, loopDelay: 0 };
    const effect = await reader.read(sent, patience);
    archive.close();
    return { effect, said: describeReport(makeReport(sent, effect), 200).join('\n') };
  }

  test('counts deliveries as missing that were answered 200 and are not in the archive', async () => {
    const { effect, said } = await readOfOne('33333333', {});
    expect(effect).toMatchObject({ accepted: 1, missing: 1, outcomes: {} });
    expect(said).toContain('1 are missing: npm run dlq -- list');
  });

  test('does not count deliveries as missing that had not been read when it was interrupted', async () => {
    const signal = AbortSignal.timeout(100);
    const { effect, said } = await readOfOne('44444444', { signal, patience: 60_000 });
    expect(effect).toMatchObject({ accepted: 1, missing: 0, unread: { count: 1, why: 'interrupted' } });
    expect(said).toContain('0 of 1 that were answered 200 are settled. 1 were not read: interrupted.');
    expect(said).not.toContain('dlq');
  });

  test('does not count deliveries as missing that may be in a damaged object', async () => {
    const key = objectKey('damaged', 'shop.updated', new Date().toISOString().slice(0, 13));
    const meanwhile = (archive: Stage) => putObject(archive, key, Buffer.from('no gzip'));
    const { effect, said } = await readOfOne('66666666', { meanwhile });
    await deleteObjects(operator.stack, [{ key }]);
    expect(effect).toMatchObject({
      missing: 0,
      unread: { count: 1, why: expect.stringContaining(`${key}: not gzip`) },
    });
    expect(said).toContain(`1 were not read: ${key}: not gzip`);
  });

  test('reports its receipts if the archive cannot be read any more, and the reason', async () => {
    const meanwhile = async ({ outputs }: Stage) =>
      void Object.assign(outputs, { ArchiveBucket: 'no-such-bucket' });
    const { effect, said } = await readOfOne('55555555', { meanwhile, patience: 60_000 });
    const why = expect.stringMatching(/^NoSuchBucket: /);
    expect(effect).toMatchObject({ missing: 0, unread: { count: 1, why } });
    expect(said).toMatch(/200 +1 +100 %.*1 were not read: NoSuchBucket: /s);
  });
});
