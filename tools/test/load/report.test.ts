import { describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { parsePayload } from '../../../lambda/events/envelope.ts';
import { decodeSignature, verify } from '../../../lambda/receiver/signature.ts';
import { parseMix } from '../../cost/workload.ts';
import { loadDeliveries, numberIn } from '../../load/deliveries.ts';
import { drawReport } from '../../load/picture.ts';
import { loadTarget, partsOf } from '../../load/plan.ts';
import { describeReport, makeReport } from '../../load/report.ts';
import { abortReason, LoadRun } from '../../load/run.ts';
import { planned } from './support.ts';

const SECRET = 'a-secret';
const BEGIN = Date.parse('2026-01-31T09:00:00Z');

describe('the deliveries of a run', () => {
  const made = (plan = planned({ rate: 200, seconds: 2 })) =>
    [...loadDeliveries(plan, SECRET, BEGIN)].map((delivery) => {
      const text = String(delivery.body);
      return { ...delivery, text, payload: JSON.parse(text) };
    });

  test('are different events of the contract, each signed as the receiver verifies it', () => {
    const all = made();
    const wrong = all.filter(({ body, signature }) => {
      const decoded = decodeSignature(signature);
      return decoded === undefined || !verify(body, decoded, [SECRET]) || parsePayload(body).kind !== 'event';
    });
    expect(wrong).toEqual([]);
    expect(new Set(all.map(({ signature }) => signature)).size).toBe(400);
    expect(new Set(all.map(({ payload }) => payload.event))).toEqual(new Set(eventNames));
  });

  test('have the mix in any part of them', () => {
    const mix = parseMix('shop.updated=3,review.posted=1');
    const events = made(planned({ rate: 400, mix })).map(({ payload }) => payload.event);
    for (const begin of [0, 100, 300]) {
      const stretch = events.slice(begin, begin + 100).toSorted();
      expect(stretch).toEqual([...Array(25).fill('review.posted'), ...Array(75).fill('shop.updated')]);
    }
  });

  test('are about the given number of shops, and any other id is unique', () => {
    const all = made(planned({ rate: 300, shops: 3, mix: parseMix('user.updated=1') }));
    const distinct = (field: string) => new Set(all.map(({ payload }) => payload.data[field])).size;
    expect([distinct('shop_id'), distinct('user_id')]).toEqual([3, 300]);
  });

  test('are due in order, with the right number in each second, and say when', () => {
    const all = made();
    const dues = all.map(({ due }) => due);
    expect(dues).toEqual(dues.toSorted((one, other) => one - other));
    expect(dues.filter((due) => due < 1_000)).toHaveLength(200);
    const times = all.map(({ payload }) => Date.parse(payload.timestamp) - BEGIN);
    expect(times).toEqual(dues.map((due) => Math.floor(BEGIN + due) - BEGIN));
  });

  test('are distinguished from those of others by run and number', () => {
    const all = made();
    expect(all.map(({ text }) => numberIn(text, '0a1b2c3d'))).toEqual(all.map((_, index) => index));
    expect(all.filter(({ text }) => numberIn(text, 'ffffffff') !== undefined)).toEqual([]);
  });
});

test('a ramp rises to its rate in ten steps', () => {
  const steps = partsOf({ rate: 500, seconds: 25, ramp: true });
  expect(steps.map(({ rate }) => rate)).toEqual([50, 100, 150, 200, 250, 300, 350, 400, 450, 500]);
  expect(steps.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(25);
});

describe('a host', () => {
  test.each([
    { url: 'http://localhost:3000/api' },
    { url: 'http://[::1]:3000/' },
    { url: 'http://shop.localhost/' },
    { url: 'https://EXAMPLE.com:8443/api', owned: 'example.com:8443' },
  ])('is accepted if it is this machine, or named twice: $url', ({ url, owned }) => {
    expect(loadTarget(url, owned).href).toBe(new URL(url).href);
  });

  test.each([
    { url: 'https://localhost.example.com/', line: /is not this machine.*--i-own localhost\.example\.com$/ },
    { url: 'http://10.0.0.1/', line: /is not this machine/ },
    { url: 'https://example.com/', owned: 'com', line: /^example\.com is not this machine/ },
    { url: 'ftp://localhost/', line: /http:\/\/ or https:\/\// },
    { url: 'localhost:3000', line: /http:\/\/ or https:\/\// },
    { url: 'http://user:word@localhost/', line: /without a user$/ },
  ])('is refused: $url with --i-own $owned', ({ url, owned, line }) => {
    expect(() => loadTarget(url, owned)).toThrow(line);
  });
});

describe('a run', () => {
  const reasonAfter = (elapsed: number, endings: Readonly<Record<string, number>>, underWay: number) =>
    abortReason(
      elapsed,
      underWay,
      new Map(Object.entries(endings).map(([ending, count]) => [Number(ending) || ending, count])),
    );

  test.each([
    [9_000, {}, 0],
    [500, { ENOTFOUND: 2 }, 0],
    // Some errors occur before a cold receiver has answered the other requests.
    [600, { ECONNRESET: 10 }, 300],
    [5_000, { 401: 10, 200: 1 }, 99_999],
    [20_000, { 429: 100, ECONNRESET: 99 }, 0],
    [20_000, { 500: 100 }, 0],
  ] as const)('continues after %s ms with %j and %s under way', (elapsed, endings, underWay) => {
    expect(reasonAfter(elapsed, endings, underWay)).toBeUndefined();
  });

  test.each([
    [5_000, { 200: 9 }, 100_000, /^100,000 deliveries wait for an answer/],
    [10_000, {}, 0, /^The host answers nothing/],
    [10_000, { ECONNRESET: 10 }, 300, /^The host answers ECONNRESET and never 200: is the address right/],
    [600, { EMFILE: 400 }, 300, /no file descriptors left: fewer --connections/],
    [500, { 308: 10 }, 0, /308 and never 200/],
    [500, { 429: 3, 401: 10, ECONNRESET: 2 }, 0, /answers 401 and never 200: the secret is wrong/],
  ] as const)(
    'is aborted as useless after %s ms with %j and %s under way',
    (elapsed, endings, underWay, line) => {
      expect(reasonAfter(elapsed, endings, underWay)).toMatch(line);
    },
  );
});

interface Fate {
  /** Milliseconds until the answer. */
  readonly takes?: number;
  readonly sentLate?: number;
  readonly ending?: number | string;
}

/** The report of a run in which each delivery behaves as defined for its second. @param until the last second sent */
function reported(plan = planned(), fateIn: (second: number) => Fate = () => ({}), until?: number) {
  const run = new LoadRun(plan, new URL('http://localhost:3000/'));
  if (until !== undefined) run.ended = 'It was interrupted.';
  for (const { number, due } of loadDeliveries(plan, SECRET, 0)) {
    if (due > (until ?? plan.seconds) * 1_000) break;
    const { takes = 20, sentLate = 0, ending = 200 } = fateIn(Math.floor(due / 1_000));
    run.measurements.begin(due, due + sentLate);
    run.measurements.end(number, due, due + sentLate + takes, ending);
  }
  return makeReport(run, { why: 'nobody asked.' });
}

const told = (...given: Parameters<typeof reported>) => describeReport(reported(...given), 200).join('\n');

describe('a report', () => {
  test('of a rate that was not kept is a failure, and says that its figures cannot be trusted', () => {
    const late = () => ({ sentLate: 150 });
    expect(reported().succeeded).toBe(true);
    expect(reported(planned(), late).succeeded).toBe(false);
    expect(told(planned(), late)).toContain(
      'Do not trust these figures: 100 % of the deliveries were sent more than 100 ms late.',
    );
  });

  test('counts the sender’s delay as part of the receipt', () => {
    const { total } = reported(planned(), () => ({ sentLate: 500, takes: 20 }));
    expect(total.receipt.toJSON().p50).toBeCloseTo(520, 0);
  });

  const ramp = planned({ rate: 100, seconds: 10, ramp: true });

  test.each<{ fate: (second: number) => Fate; line: RegExp }>([
    {
      fate: (second) => (second < 6 ? {} : { ending: 503 }),
      line: /breaks at 70 a second: 100 % not 200.* 60 a/,
    },
    { fate: (second) => (second < 3 ? {} : { takes: 1_500 }), line: /breaks at 40 a second: p99 above/ },
    { fate: (second) => (second < 8 ? {} : { sentLate: 300 }), line: /breaks at 90 a second: sent late/ },
    { fate: () => ({ ending: 500 }), line: /breaks at 10 a second: .* No step stays within the limits/ },
    { fate: () => ({}), line: /\n\nThe last step within the limits is 100 a second/ },
  ])('of a ramp names the step at which it breaks: $line', ({ fate, line }) => {
    expect(told(ramp, fate)).toMatch(line);
  });

  test('of an interrupted ramp does not count that as a break', () => {
    expect(told(ramp, undefined, 3.5)).toMatch(/\n\nThe last step within the limits is 30 a second/);
    const cut = told(ramp, (second) => (second < 3 ? {} : { ending: 'under way', takes: 1_500 }), 3.5);
    expect(cut).toMatch(/breaks at 40 a second: p99 above 1,000 ms. The last step within the limits is 30/);
    expect(cut).toContain('It ended early: It was interrupted.');
  });

  test('without any deliveries has a text and a picture', () => {
    expect(told(planned(), undefined, 0)).toContain('Sent 0 of 100 deliveries');
    expect(drawReport(reported(planned(), undefined, 0))).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('draws a point for each part of a long run', () => {
    const picture = drawReport(reported(planned({ rate: 1, seconds: 300 })));
    const [, path = ''] = /<path class="line1" d="(M[^"]+L[^"]+)"/.exec(picture) ?? [];
    expect(path.split(/[ML]/).slice(1)).toHaveLength(60);
  });
});
