import { describe, expect, test } from '@jest/globals';
import { STALE_WITHIN } from '../../../../tools/measure/load/generator.ts';
import { makeReport } from '../../../../tools/measure/load/report.ts';
import { describeReport } from '../../../../tools/measure/load/report-text.ts';
import { freePort } from '../../cli/commands/project.ts';
import { answering, keptRate, planned, Receiver, ran } from './support.ts';

const UNREAD = { why: 'nobody asked.' };

/** The receiver answers nothing from then on, for so long. */
const STALL = { begin: 500, milliseconds: 1_000 };

/** Holds answers back while it stands still. */
const stalling = () =>
  Receiver.open((response, sinceFirst) => {
    const left = STALL.begin + STALL.milliseconds - sinceFirst;
    const wait = sinceFirst >= STALL.begin && left > 0 ? left : 0;
    setTimeout(() => response.end(), wait);
  });

describe('a load test', () => {
  test.each([
    ['with a connection for each', 1_000],
    ['with two connections, so that most wait for one', 2],
  ])('shows a stall by all that came meanwhile, %s', async (_, connections) => {
    await using receiver = await stalling();
    const { measurements } = await ran(planned({ seconds: 2, connections }), receiver.url);
    expect(measurements.accepted.size).toBe(200);
    // Of 200 in two seconds those of one second wait, evenly from none of it to all. They come at random moments: some
    // 75 wait for longer than a quarter of it, and 60 or fewer in one run of a hundred.
    expect(measurements.receipt.percentile(80)).toBeGreaterThan(STALL.milliseconds / 4);
    expect(measurements.receipt.percentile(95)).toBeGreaterThan(STALL.milliseconds / 2);
  });

  test('sends by the clock, whatever answers take', async () => {
    await using receiver = await stalling();
    await ran(planned({ seconds: 2 }), receiver.url);
    const during = receiver.arrivals.filter((at) => at > STALL.begin && at < STALL.begin + 900);
    expect(during.length).toBeGreaterThan(60);
  });

  test('tells each kind of answer', async () => {
    let count = 0;
    await using receiver = await Receiver.open((response) => {
      count += 1;
      response.writeHead(count % 4 === 0 ? 429 : 200).end();
    });
    const report = makeReport(await ran(planned(), receiver.url), UNREAD);
    expect(report.endings).toEqual([
      { came: 200, count: 75 },
      { came: 429, count: 25 },
    ]);
    expect(report.succeeded).toBe(false);
    expect(describeReport(report, 100).join('\n')).toMatch(/429 +25 +25 % +throttled/);
  });

  test('repeats once, and counts, what a connection was reset of at once', async () => {
    const times = new Map<unknown, number>();
    await using receiver = await Receiver.open((response, sinceFirst) => {
      const signature = response.req.headers['x-webhook-signature'];
      times.set(signature, (times.get(signature) ?? 0) + 1);
      // First it makes connections that lie idle then, so that a repetition finds another of them.
      if (sinceFirst < 200) setTimeout(() => response.end(), 300);
      else response.socket?.resetAndDestroy();
    });
    const report = makeReport(await ran(planned(), receiver.url), UNREAD);
    const { sent, sentAgain, accepted } = report.deliveries;
    expect(Math.max(...times.values())).toBe(2);
    expect(receiver.arrivals).toHaveLength(sent + sentAgain);
    expect(report.endings).toContainEqual({ came: 'ECONNRESET', count: sent - accepted });
    expect(describeReport(report, 200).join('\n')).toMatch(new RegExp(`sent again +${sentAgain}, once each`));
  });

  test('takes a connection that is reset later for a delivery that failed', async () => {
    let count = 0;
    await using receiver = await Receiver.open((response) => {
      count += 1;
      if (count % 4 === 0) setTimeout(() => response.socket?.resetAndDestroy(), 2 * STALE_WITHIN);
      else response.end();
    });
    const report = makeReport(await ran(planned(), receiver.url), UNREAD);
    expect(report.deliveries).toMatchObject({ sent: 100, sentAgain: 0, accepted: 75 });
    expect(report.endings).toContainEqual({ came: 'ECONNRESET', count: 25 });
    expect(report.succeeded).toBe(false);
  });

  test('succeeds where all is answered 200', async () => {
    await using receiver = await answering(200);
    const report = makeReport(await ran(planned(), receiver.url), UNREAD);
    expect(report).toMatchObject({ deliveries: { wanted: 100, sent: 100, accepted: 100 } });
    expect(report.succeeded).toBe(keptRate(report));
    expect(report.receipt.count).toBe(100);
  });

  test('ends within seconds where the secret is wrong', async () => {
    await using receiver = await answering(401);
    const { ended, lasted } = await ran(planned({ rate: 20, seconds: 60 }), receiver.url);
    expect(ended).toMatch(/^127\.0\.0\.1:\d+ answers 401 and never 200: the secret is wrong/);
    expect(lasted).toBeLessThan(10_000);
  });

  test('ends within seconds where nothing listens', async () => {
    const port = await freePort();
    const { ended, lasted } = await ran(
      planned({ rate: 20, seconds: 60 }),
      new URL(`http://127.0.0.1:${port}/`),
    );
    expect(ended).toBe(
      `Nothing answers at 127.0.0.1:${port}: ECONNREFUSED. Is it the right address, and does it run?`,
    );
    expect(lasted).toBeLessThan(10_000);
  });

  test('ends early where more is under way than memory holds', async () => {
    await using receiver = await Receiver.open(() => {});
    const signal = new AbortController().signal;
    const run = await ran(planned({ seconds: 60 }), receiver.url, signal, { maxUnderWay: 50 });
    expect(run.ended).toMatch(/^\d+ deliveries wait for an answer of 127\.0\.0\.1:\d+, .* no more than 50/);
    expect(run.lasted).toBeLessThan(8_000);
  });

  test('that is interrupted tells what there is', async () => {
    await using receiver = await answering(200);
    const interruption = new AbortController();
    setTimeout(() => interruption.abort(), 1_500);
    const run = await ran(planned({ seconds: 60 }), receiver.url, interruption.signal);
    const report = makeReport(run, { why: 'it was not waited for.' });
    expect(report.ended).toBe('It was interrupted.');
    expect(report.succeeded).toBe(false);
    expect(report.deliveries.accepted).toBeGreaterThan(0);
    expect(report.deliveries.sent).toBeLessThan(report.deliveries.wanted);
  });

  test('that is interrupted before its first delivery lasted no time', async () => {
    const run = await ran(planned(), new URL('http://127.0.0.1:1/'), AbortSignal.abort());
    expect(run).toMatchObject({ lasted: 0, over: 0, ended: 'It was interrupted.' });
    expect(describeReport(makeReport(run, UNREAD), 80).join('\n')).toMatch(/sent +0, 0 a second/);
  });

  test('that is interrupted does not take what is under way for unanswered', async () => {
    await using receiver = await Receiver.open(() => {});
    const interruption = new AbortController();
    setTimeout(() => interruption.abort(), 1_200);
    const run = await ran(planned({ seconds: 60 }), receiver.url, interruption.signal);
    const { endings, deliveries, receipt } = makeReport(run, { why: 'it was not waited for.' });
    expect(endings).toEqual([{ came: 'under way', count: deliveries.sent }]);
    expect(receipt.count).toBe(0);
  });
});
