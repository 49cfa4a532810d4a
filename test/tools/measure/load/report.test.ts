import { describe, expect, test } from '@jest/globals';
import { Measurements } from '../../../../tools/measure/load/measurements.ts';
import { drawReport } from '../../../../tools/measure/load/picture.ts';
import { loadTarget } from '../../../../tools/measure/load/plan.ts';
import { makeReport } from '../../../../tools/measure/load/report.ts';
import { describeReport } from '../../../../tools/measure/load/report-text.ts';
import { abortReason, type Run, senderTooSlow } from '../../../../tools/measure/load/run.ts';
import { planned } from './support.ts';

interface Fate {
  /** Milliseconds. */
  readonly takes?: number;
  readonly sentLate?: number;
  readonly came?: number | string;
}

/** A run of which each delivery fares as its second says. */
function ranAs(
  plan = planned(),
  fateIn: (second: number) => Fate = () => ({}),
  given: Partial<Run> = {},
): Run {
  const measurements = new Measurements(plan);
  let number = 0;
  for (const { begin, seconds, wanted } of measurements.slices) {
    for (let index = 0; index < wanted; index += 1) {
      const due = (begin + (index / wanted) * seconds) * 1_000;
      const { takes = 20, sentLate = 0, came = 200 } = fateIn(Math.floor(due / 1_000));
      measurements.begin(due, due + sentLate);
      measurements.end({ number, due, at: due + sentLate + takes, came });
      number += 1;
    }
  }
  const url = new URL('http://localhost:3000/');
  const lasted = plan.seconds * 1_000;
  return { plan, url, measurements, begin: 0, lasted, over: lasted + 20, loopDelay: 0, ...given };
}

const UNREAD = { why: 'nobody asked.' };

const told = (run: Run) => describeReport(makeReport(run, UNREAD), 200).join('\n');

describe('a host', () => {
  test.each([
    ['http://localhost:3000/api', undefined],
    ['http://127.0.0.2/', undefined],
    ['http://[::1]:3000/', undefined],
    ['http://shop.localhost/', undefined],
    ['https://example.com/api', 'example.com'],
    ['https://EXAMPLE.com:8443/api', 'example.com:8443'],
  ])('%s is loaded where it is this machine, or named twice: %s', (url, owned) => {
    expect(loadTarget(url, owned).href).toBe(new URL(url).href);
  });

  test.each([
    ['https://example.com/api', undefined, /^example\.com is not this machine.*--i-own example\.com$/],
    ['https://localhost.example.com/', undefined, /is not this machine/],
    ['http://10.0.0.1/', undefined, /is not this machine/],
    ['https://example.com/', 'example.org', /^--url leads to example\.com, and --i-own names example\.org/],
    ['https://example.com/', 'com', /must be the same host/],
    ['ftp://localhost/', undefined, /http:\/\/ or https:\/\//],
    ['localhost:3000', undefined, /http:\/\/ or https:\/\//],
    ['http://user:word@localhost/', undefined, /must name no user/],
  ])('%s is refused with --i-own %s', (url, owned, line) => {
    expect(() => loadTarget(url, owned)).toThrow(line);
  });
});

describe('while it runs', () => {
  const soFar = (elapsed: number, endings: [number | string, number][] = []) => ({
    host: 'example.com',
    elapsed,
    endings: new Map(endings),
    lateBy: 0,
    underWay: 0,
  });

  test.each([
    [soFar(9_000), undefined],
    [{ ...soFar(5_000, [[200, 9]]), underWay: 99_999 }, undefined],
    [
      { ...soFar(5_000, [[200, 9]]), underWay: 100_000 },
      /^100,000 deliveries wait for an answer of example\.com/,
    ],
    [soFar(10_000), /^example\.com has not answered anything for 10 s/],
    [soFar(500, [['ENOTFOUND', 2]]), undefined],
    // Some errors, while a cold receiver has not answered the others yet.
    [{ ...soFar(600, [['ECONNRESET', 10]]), underWay: 300 }, undefined],
    [
      { ...soFar(10_000, [['ECONNRESET', 10]]), underWay: 300 },
      /^Nothing answers at example\.com: ECONNRESET/,
    ],
    [
      { ...soFar(600, [['EMFILE', 400]]), underWay: 300 },
      /^No delivery was answered: this machine has no file descriptors left: fewer --connections/,
    ],
    [soFar(3_000, [['ENOTFOUND', 1]]), /^Nothing answers at example\.com: ENOTFOUND/],
    [soFar(500, [[401, 10]]), /^example\.com answers 401 and never 200: the secret is wrong/],
    [soFar(500, [[404, 10]]), /answers 404 and never 200: there is no such path\. Is it the whole address/],
    [soFar(500, [[403, 10]]), /answers 403 and never 200: something before the receiver turns it away/],
    [soFar(500, [[308, 10]]), /answers 308 and never 200: it leads to another address/],
    [
      soFar(5_000, [
        [429, 3],
        [401, 100_000],
        [503, 1],
        ['ECONNRESET', 2],
      ]),
      /the secret is wrong/,
    ],
    [
      soFar(500, [
        [401, 9],
        ['ECONNRESET', 2],
      ]),
      undefined,
    ],
    [
      soFar(5_000, [
        [429, 100],
        ['ECONNRESET', 100],
      ]),
      undefined,
    ],
    [soFar(5_000, [[500, 100]]), undefined],
    [
      soFar(5_000, [
        [401, 10],
        [200, 1],
      ]),
      undefined,
    ],
    [soFar(5_000, [[429, 100]]), undefined],
  ])('%j is given up as of no use: %s', (state, line) => {
    if (line === undefined) expect(abortReason(state)).toBeUndefined();
    else expect(abortReason(state)).toMatch(line);
  });

  test('a machine that falls behind is told, and what to do', () => {
    expect(senderTooSlow({ lateBy: 100 })).toBeUndefined();
    expect(senderTooSlow({ lateBy: 1_234 })).toMatch(
      /cannot keep the rate: it is 1\.2 s behind\. Lower --rate/,
    );
  });
});

describe('a report', () => {
  test('says that figures are not to be trusted where deliveries were sent late', () => {
    const run = ranAs(planned(), () => ({ sentLate: 150 }));
    expect(told(run)).toMatch(/not to be trusted: 100 % of the deliveries were sent more than 100 ms late/);
    expect(told(ranAs())).not.toContain('trusted');
  });

  test('of a rate that was not kept is no success, though all was answered 200', () => {
    const succeeded = (given: Partial<Run>) =>
      makeReport(ranAs(planned(), undefined, given), UNREAD).succeeded;
    expect(succeeded({})).toBe(true);
    expect(succeeded({ tooSlow: senderTooSlow({ lateBy: 1_234 }) ?? '' })).toBe(false);
    expect(succeeded(ranAs(planned(), () => ({ sentLate: 150 })))).toBe(false);
  });

  test('counts what the sender lost as part of the receipt', () => {
    const { measurements } = ranAs(planned(), () => ({ sentLate: 500, takes: 20 }));
    expect(measurements.receipt.percentile(50)).toBeGreaterThan(510);
  });

  const ramp = planned({ rate: 100, seconds: 10, ramp: true });

  test.each<[string, (second: number) => Fate, RegExp]>([
    [
      'answers but 200',
      (second) => (second < 6 ? {} : { came: 503 }),
      /breaks at 70 a second: 100 % not 200/,
    ],
    ['slow answers', (second) => (second < 3 ? {} : { takes: 1_500 }), /breaks at 40 a second: p99 above/],
    ['late sends', (second) => (second < 8 ? {} : { sentLate: 300 }), /breaks at 90 a second: sent late/],
  ])('of a ramp says which step is the first with %s', (_, fateIn, line) => {
    expect(told(ranAs(ramp, fateIn))).toMatch(line);
  });

  test('of a ramp that holds says so', () => {
    expect(told(ranAs(ramp))).toContain('It holds at 100 a second');
  });

  /** A ramp that ended in its fourth second, and what came of deliveries until then. */
  function cutRamp(came: number | string = 200) {
    const measurements = new Measurements(ramp);
    const dues = measurements.slices.flatMap(({ begin, wanted }) =>
      Array.from({ length: wanted }, (_, index) => (begin + index / wanted) * 1_000),
    );
    for (const [number, due] of dues.filter((due) => due < 3_500).entries()) {
      measurements.begin(due, due);
      measurements.end({ number, due, at: due + 20, came: due < 3_000 ? 200 : came });
    }
    return { ...ranAs(ramp), measurements, lasted: 3_500, ended: 'It was interrupted.' };
  }

  test('of a ramp that was interrupted does not take that for a break', () => {
    expect(told(cutRamp())).toContain('It holds at 30 a second');
    expect(told(cutRamp())).not.toContain('break');
    const { ended: _, ...whole } = cutRamp();
    expect(told(whole)).toContain('It breaks at 40 a second: not all sent');
  });

  test('of a ramp that was interrupted after it broke says so', () => {
    expect(told(cutRamp(503))).toMatch(
      /breaks at 40 a second: 100 % not 200\. The last step that holds is 30/,
    );
  });

  test('of a ramp that ended as nothing was answered any more says at which step', () => {
    const { measurements } = cutRamp();
    // The third second was sent whole, and the fourth was not.
    const open = new Measurements(ramp);
    for (const { begin, wanted } of measurements.slices.filter(({ begin }) => begin < 4)) {
      for (let index = 0; index < wanted; index += 1) {
        const due = (begin + index / wanted) * 1_000;
        if (due >= 3_500) continue;
        open.begin(due, due);
        if (due < 2_000 || index === 0)
          open.end({ number: begin * 100 + index, due, at: due + 20, came: 200 });
      }
    }
    const ended = (over: number) => told({ ...cutRamp(), measurements: open, over });
    expect(ended(4_100)).toMatch(
      / 40 +20 +5 % .*\n\nIt breaks at 30 a second: 97 % without an answer\. .* holds is 20/,
    );
    expect(ended(3_500)).toContain('It holds at 20 a second');
  });

  test('of a ramp that was interrupted in its first step says that nothing is known', () => {
    const measurements = new Measurements(ramp);
    measurements.begin(0, 0);
    const run = { ...ranAs(ramp), measurements, lasted: 100, ended: 'It was interrupted.' };
    expect(told(run)).toContain('It ended before a step was whole');
  });

  test('without anything sent has a text and a picture', () => {
    const plan = planned();
    const run = {
      ...ranAs(),
      measurements: new Measurements(plan),
      lasted: 0,
      over: 0,
      ended: 'It was interrupted.',
    };
    const report = makeReport(run, UNREAD);
    expect(describeReport(report, 80).join('\n')).toContain('It ended early: It was interrupted.');
    expect(drawReport(report)).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('is drawn with a point for each slice of a long run', () => {
    const plan = planned({ rate: 1, seconds: 300 });
    const picture = drawReport(makeReport(ranAs(plan), UNREAD));
    expect(picture).not.toMatch(/NaN|Infinity|undefined/);
    const [, path = ''] = /<path class="line p99" d="(M[^"]+L[^"]+)"/.exec(picture) ?? [];
    expect(path.split(/[ML]/).slice(1)).toHaveLength(100);
  });
});
