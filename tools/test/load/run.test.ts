import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TEST_SECRET } from '../../../test/support/partner.ts';
import { type SharedStack, sharedStack } from '../../../test/support/shared-stack.ts';
import { EffectReader } from '../../load/effects.ts';
import { load } from '../../load/load.ts';
import type { LoadPlan } from '../../load/plan.ts';
import { describeReport, makeReport } from '../../load/report.ts';
import { LoadRun } from '../../load/run.ts';
import { Stage } from '../../stage/stage.ts';
import { deleteObjects, objectKey, putObject } from '../stage/archive/support.ts';
import { Operator } from '../stage/queues/support.ts';
import { planned } from './support.ts';

const never = new AbortController().signal;
const progress = { show: () => {}, end: () => {} };

/** A receiver whose answer depends on the milliseconds since the first request, and on the request's number. */
async function receive(answer: (response: ServerResponse, sinceFirst: number, count: number) => void) {
  const requests = { count: 0, unanswered: 0, mostUnanswered: 0 };
  let first: number | undefined;
  const server = createServer((request, response) => {
    first ??= performance.now();
    const [sinceFirst, count] = [performance.now() - first, ++requests.count];
    requests.mostUnanswered = Math.max(requests.mostUnanswered, ++requests.unanswered);
    response.once('close', () => --requests.unanswered);
    request.resume().once('end', () => answer(response, sinceFirst, count));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    url: new URL(`http://127.0.0.1:${port}/api/v1/webhooks/partner`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

async function ran(plan: LoadPlan, url: URL, signal = never) {
  const run = new LoadRun(plan, url);
  await run.send(TEST_SECRET, signal, progress);
  return makeReport(run, { why: 'nobody asked.' });
}

describe('a load test', () => {
  /** From `begin` on, the receiver does not answer for this time. */
  const STALL = { begin: 250, milliseconds: 500 };

  test.each([1_000, 2])(
    'shows a stall by all deliveries of that time, with %s connections',
    async (connections) => {
      await using receiver = await receive((response, sinceFirst) => {
        const left = STALL.begin + STALL.milliseconds - sinceFirst;
        setTimeout(() => response.end(), sinceFirst >= STALL.begin && left > 0 ? left : 0);
      });
      const { total } = await ran(planned({ rate: 200, connections }), receiver.url);
      expect(total.accepted).toBe(200);
      // During half a second, 100 requests wait, for times spread evenly from zero to half a second. About 50 of them
      // wait for longer than half of it.
      expect(total.receipt.toJSON().p90).toBeGreaterThan(STALL.milliseconds / 2);
      // The load test sends by the clock, regardless of how long answers take.
      if (connections === 1_000) expect(receiver.requests.mostUnanswered).toBeGreaterThan(2);
      else expect(receiver.requests.mostUnanswered).toBeLessThanOrEqual(2);
    },
  );

  test('counts each kind of answer, and a reset connection as a failed delivery', async () => {
    await using receiver = await receive((response, _, count) => {
      if (count % 4 === 0) response.socket?.resetAndDestroy();
      else response.writeHead(count % 4 === 1 ? 429 : 200).end();
    });
    const report = await ran(planned(), receiver.url);
    expect(report.endings).toEqual({ 200: 50, 429: 25, ECONNRESET: 25 });
    expect(report).toMatchObject({ succeeded: false, total: { sent: 100, accepted: 50, failed: 50 } });
    expect(describeReport(report, 100).join('\n')).toMatch(/429 +25 +25 % +throttled/);
  });

  test('that is interrupted counts deliveries under way with their time so far, and not as failed', async () => {
    const interruption = new AbortController();
    await using receiver = await receive((response, _, count) => {
      if (count <= 10) response.end();
      if (count === 20) setTimeout(() => interruption.abort(), 300);
    });
    const report = await ran(planned({ seconds: 60 }), receiver.url, interruption.signal);
    const { sent, wanted, failed, receipt } = report.total;
    expect(report).toMatchObject({ ended: 'It was interrupted.', succeeded: false });
    expect(report.endings).toEqual({ 200: 10, 'under way': sent - 10 });
    expect([sent < wanted, failed, receipt.toJSON().count]).toEqual([true, 0, sent]);
    expect(receipt.toJSON().max).toBeGreaterThan(290);
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
    plan: Partial<LoadPlan>,
    given: { json?: boolean; secret?: string; picture?: string },
  ) {
    const operation = operator.operation();
    const url = new URL(stack.outputs.WebhookUrl ?? '');
    const succeeded = await load(operation, { plan: planned(plan), url, secret: TEST_SECRET, ...given });
    return { succeeded, said: operation.said.join('\n') };
  }

  test('reports the effects of all deliveries, and how long each took, also as a picture', async () => {
    const picture = operator.path('load.svg');
    const { succeeded, said } = await loaded({ run: '11111111', rate: 50 }, { json: true, picture });
    const report = JSON.parse(said);
    expect(report).toMatchObject({
      endings: { 200: 50 },
      total: { wanted: 50, receipt: { count: 50 }, effect: { count: 50 } },
      effects: { missing: 0, unanswered: 0 },
    });
    // A busy computer may be too slow for a moment.
    expect(succeeded).toBe(report.doubt === undefined);
    expect(await readFile(picture, 'utf8')).toMatch(
      /^<svg .*50 deliveries in 1 s, 50 answered 200.*<\/svg>\n$/s,
    );
  });

  test('ends early and fails if nobody accepts the deliveries', async () => {
    const { succeeded, said } = await loaded({ run: '22222222', seconds: 60 }, { secret: 'another' });
    expect(succeeded).toBe(false);
    expect(said).toContain('It ended early: The host answers 401 and never 200: the secret is wrong:');
    expect(said).not.toContain('another');
  });

  test('in AWS is confirmed first, even if the address is on this machine, and its price is shown', async () => {
    const { isTTY } = process.stdin;
    process.stdin.isTTY = false;
    const QuarantineQueueUrl = 'https://sqs.eu-west-1.amazonaws.com/123456789012/quarantine';
    const operation = { ...operator.operation(), stack: new Stage('stage load', { QuarantineQueueUrl }) };
    const options = {
      plan: planned(),
      url: new URL('http://localhost:8443/'),
      secret: 'a-secret',
      stage: 'load',
    };
    await expect(load(operation, options)).rejects.toThrow(/^There is no terminal for the confirmation/);
    expect(await load(operation, { ...options, dryRun: true })).toBe(true);
    operation.stack.close();
    process.stdin.isTTY = isTTY;
    expect(operation.said.join('\n')).toMatch(
      /deliveries +100, .*cost +about \$0\.00 in us-east-1, as in prod/s,
    );
  });

  /** Reads the effect of one delivery that was answered 200 and is not in the archive. */
  async function readOfOne(
    run: string,
    { signal = never, patience = 100, meanwhile = async (_archive: Stage) => {} },
  ) {
    const archive = new Stage('the local stack', { ...stack.outputs });
    const operation = { ...operator.operation(signal), stack: archive };
    const sent = new LoadRun(planned({ run }), new URL(archive.webhookUrl));
    const reader = await EffectReader.open(operation, sent.plan);
    await meanwhile(archive);
    sent.measurements.begin(0, 0);
    sent.measurements.end(7, 0, 20, 200);
    const effects = await reader.read(sent, patience);
    archive.close();
    expect(effects).toMatchObject({ missing: 1, outcomes: {} });
    return describeReport(makeReport(sent, effects), 300).join('\n');
  }

  test('counts deliveries as missing that were answered 200 and are not in the archive', async () => {
    const settled = '0 of 1 that were answered 200 are settled.';
    expect(await readOfOne('33333333', {})).toContain(`${settled} 1 are missing: see npx hookctl dlq list.`);
  });

  test('does not count them as missing if it was interrupted before it had read them', async () => {
    const said = await readOfOne('44444444', { signal: AbortSignal.timeout(100), patience: 60_000 });
    expect(said).toContain('are settled. 1 were not read: interrupted.');
  });

  test('does not count them as missing if they may be in a damaged object', async () => {
    const key = objectKey('damaged', 'shop.updated', new Date().toISOString().slice(0, 13));
    const said = await readOfOne('66666666', {
      meanwhile: (archive) => putObject(archive, key, Buffer.from('no gzip')),
    });
    await deleteObjects(operator.stack, [{ key }]);
    expect(said).toContain(`1 were not read: ${key}: not gzip`);
  });

  test('reports its receipts if the archive cannot be read any more, and the reason', async () => {
    const meanwhile = async ({ outputs }: Stage) =>
      void Object.assign(outputs, { ArchiveBucket: 'no-such-bucket' });
    const said = await readOfOne('55555555', { meanwhile, patience: 60_000 });
    expect(said).toMatch(/200 +1 +100 %.*1 were not read: NoSuchBucket: /s);
  });
});
