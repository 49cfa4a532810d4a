import { describe, expect, test } from '@jest/globals';
import { readSamples } from '../../../../events/samples.ts';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { parsePayload } from '../../../../lambda/events/envelope.ts';
import { decodeSignature, verify } from '../../../../lambda/receiver/signature.ts';
import { deploymentOf } from '../../../../tools/measure/cost/deployment.ts';
import { parseMix } from '../../../../tools/measure/cost/workload.ts';
import { Deliveries, numberReader, SIGNATURE_LENGTH } from '../../../../tools/measure/load/deliveries.ts';
import { describeForecast, takenStage } from '../../../../tools/measure/load/forecast.ts';
import { load } from '../../../../tools/measure/load/load.ts';
import { Measurements } from '../../../../tools/measure/load/measurements.ts';
import { drawReport } from '../../../../tools/measure/load/picture.ts';
import { loadTarget, ratesOf, stepsOf } from '../../../../tools/measure/load/plan.ts';
import { makeReport } from '../../../../tools/measure/load/report.ts';
import { describeReport } from '../../../../tools/measure/load/report-text.ts';
import { abortReason, type Run, senderTooSlow } from '../../../../tools/measure/load/run.ts';
import { Stage } from '../../../../tools/stage/stage.ts';
import { planned } from './support.ts';

const SECRET = 'a-secret';
const BEGIN = Date.parse('2026-01-31T09:00:00Z');

/** The deliveries of two seconds. */
function made(plan = planned(), rate = 200) {
  const deliveries = new Deliveries({ plan, samples: readSamples(), secret: SECRET });
  return [0, 1].flatMap((second) => {
    const { first, offsets, bytes, ends, signatures } = deliveries.next(rate, BEGIN + second * 1_000);
    return Array.from(ends, (end, index) => ({
      number: first + index,
      due: BEGIN + second * 1_000 + (offsets[index] ?? 0),
      body: Buffer.from(bytes.subarray(ends[index - 1] ?? 0, end)),
      signature: signatures.slice(index * SIGNATURE_LENGTH, (index + 1) * SIGNATURE_LENGTH),
    }));
  });
}

describe('the deliveries of a run', () => {
  test('are signed as the receiver verifies it', () => {
    const wrong = made().filter(({ body, signature }) => {
      const decoded = decodeSignature(signature);
      return decoded === undefined || !verify(body, decoded, [SECRET]);
    });
    expect(wrong).toEqual([]);
  });

  test('are events of the contract with different bytes', () => {
    const bodies = made().map(({ body }) => body);
    expect(bodies.map((body) => parsePayload(body).kind)).toEqual(bodies.map(() => 'event'));
    expect(new Set(bodies.map(String)).size).toBe(bodies.length);
  });

  test('have the mix in any part of them', () => {
    const plan = planned({ mix: parseMix('shop.updated=3,review.posted=1') });
    const events = made(plan).map(({ body }) => JSON.parse(String(body)).event);
    for (const begin of [0, 100, 300]) {
      const stretch = events.slice(begin, begin + 100);
      expect(stretch.filter((event) => event === 'shop.updated')).toHaveLength(75);
      expect(stretch.filter((event) => event === 'review.posted')).toHaveLength(25);
    }
  });

  test('are about the given number of shops, and any other id is unique', () => {
    const data = made(planned({ shops: 3 }))
      .map(({ body }) => JSON.parse(String(body)))
      .filter(({ event }) => event === 'user.updated')
      .map((payload) => payload.data);
    expect(new Set(data.map(({ shop_id }) => shop_id)).size).toBe(3);
    expect(new Set(data.map(({ user_id }) => user_id)).size).toBe(data.length);
  });

  test('say when they are to be sent, in order, with the right number in each second', () => {
    const all = made();
    expect(all.map(({ due }) => due)).toEqual(all.map(({ due }) => due).sort((one, other) => one - other));
    expect(all.filter(({ due }) => due < BEGIN + 1_000)).toHaveLength(200);
    const times = all.map(({ body }) => Date.parse(JSON.parse(String(body)).timestamp));
    expect(times).toEqual(all.map(({ due }) => Math.floor(due)));
  });

  test('are distinguished from those of others by run and number', () => {
    const bodies = made().map(({ body }) => String(body));
    expect(bodies.map(numberReader('0a1b2c3d'))).toEqual(bodies.map((_, index) => index));
    expect(bodies.map(numberReader('ffffffff'))).toEqual(bodies.map(() => undefined));
  });
});

describe('a plan', () => {
  test('without a ramp has its rate in each second', () => {
    expect(ratesOf({ rate: 50, seconds: 3, ramp: false })).toEqual([50, 50, 50]);
  });

  test('with a ramp rises to its rate in ten steps', () => {
    const steps = stepsOf({ rate: 500, seconds: 25, ramp: true });
    expect(steps.map(({ rate }) => rate)).toEqual([50, 100, 150, 200, 250, 300, 350, 400, 450, 500]);
    expect(steps.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(25);
  });

  test.each(eventNames)('has a sample of %s', (event) => {
    const plan = planned({ mix: parseMix(`${event}=1`) });
    expect(JSON.parse(String(made(plan, 1)[0]?.body)).event).toBe(event);
  });
});

describe('what a run costs', () => {
  test.each([
    { stage: 'dev', taken: 'dev' },
    { stage: 'load', taken: 'prod' },
    { stage: undefined, taken: 'prod' },
  ])('is calculated from stage $taken for stage $stage', ({ stage, taken }) => {
    expect(takenStage(stage)).toBe(taken);
  });

  test('says so if it is that of another stage', async () => {
    const deployment = await deploymentOf('prod');
    const url = new URL('http://localhost:8443/api/v1/webhooks/partner');
    const forecast = (takenAs?: string) =>
      describeForecast(planned(), { title: 'stage load', url, deployment, takenAs }, 300).join('\n');
    expect(forecast('prod')).toMatch(
      / taken as +prod: its cost, limits and throttle, as cdk\.json does not know this stage\n *cost +about \$\d+\.\d\d in us-east-1/,
    );
    expect(forecast()).not.toContain('taken as');
    expect(forecast()).toMatch(/ cost +about \$\d+\.\d\d in us-east-1/);
  });

  test('is confirmed before a stage is loaded, even if the address is on this machine', async () => {
    const { isTTY } = process.stdin;
    process.stdin.isTTY = false;
    const QuarantineQueueUrl = 'https://sqs.eu-west-1.amazonaws.com/123456789012/quarantine';
    const stack = new Stage('stage load', { QuarantineQueueUrl });
    const progress = { show: () => {}, end: () => {} };
    const operation = { stack, signal: AbortSignal.any([]), printLine: () => {}, width: 80, progress };
    const url = new URL('http://localhost:8443/');
    const options = { plan: planned(), url, secret: 'a-secret', json: false, dryRun: false, yes: false };
    await expect(load(operation, options)).rejects.toThrow(/^There is no terminal for the confirmation/);
    stack.close();
    process.stdin.isTTY = isTTY;
  });
});

interface Fate {
  /** Milliseconds. */
  readonly takes?: number;
  readonly sentLate?: number;
  readonly came?: number | string;
}

/** A run in which each delivery behaves as defined for its second. */
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
    { url: 'http://localhost:3000/api' },
    { url: 'http://127.0.0.2/' },
    { url: 'http://[::1]:3000/' },
    { url: 'http://shop.localhost/' },
    { url: 'https://EXAMPLE.com:8443/api', owned: 'example.com:8443' },
  ])('is accepted if it is this machine, or named twice: $url', ({ url, owned }) => {
    expect(loadTarget(url, owned).href).toBe(new URL(url).href);
  });

  test.each([
    {
      url: 'https://example.com/api',
      line: /^example\.com is not this machine.*--i-own example\.com$/,
    },
    { url: 'https://localhost.example.com/', line: /is not this machine/ },
    { url: 'http://10.0.0.1/', line: /is not this machine/ },
    {
      url: 'https://example.com/',
      owned: 'example.org',
      line: /^--url leads to example\.com, and --i-own names example\.org/,
    },
    { url: 'https://example.com/', owned: 'com', line: /must be the same host/ },
    { url: 'ftp://localhost/', line: /http:\/\/ or https:\/\// },
    { url: 'localhost:3000', line: /http:\/\/ or https:\/\// },
    { url: 'http://user:word@localhost/', line: /must not contain a user/ },
  ])('is refused: $url with --i-own $owned', ({ url, owned, line }) => {
    expect(() => loadTarget(url, owned)).toThrow(line);
  });
});

describe('during a run', () => {
  const soFar = (elapsed: number, endings: Readonly<Record<string, number>> = {}, underWay = 0) => {
    const counted = Object.entries(endings).map(
      ([came, count]) => [/^\d/.test(came) ? Number(came) : came, count] as const,
    );
    return { host: 'example.com', elapsed, endings: new Map(counted), lateBy: 0, underWay };
  };

  test.each([
    soFar(9_000),
    soFar(5_000, { 200: 9 }, 99_999),
    soFar(500, { ENOTFOUND: 2 }),
    // Some errors, while a cold receiver has not answered the others yet.
    soFar(600, { ECONNRESET: 10 }, 300),
    soFar(500, { 401: 9, ECONNRESET: 2 }),
    soFar(5_000, { 429: 100, ECONNRESET: 100 }),
    soFar(5_000, { 500: 100 }),
    soFar(5_000, { 401: 10, 200: 1 }),
    soFar(5_000, { 429: 100 }),
  ])('it continues: $elapsed ms, $endings, $underWay under way', (state) => {
    expect(abortReason(state)).toBeUndefined();
  });

  test.each([
    {
      state: soFar(5_000, { 200: 9 }, 100_000),
      line: /^100,000 deliveries wait for an answer of example\.com/,
    },
    { state: soFar(10_000), line: /^example\.com has not answered anything for 10 s/ },
    {
      state: soFar(10_000, { ECONNRESET: 10 }, 300),
      line: /^Nothing answers at example\.com: ECONNRESET/,
    },
    {
      state: soFar(600, { EMFILE: 400 }, 300),
      line: /^No delivery was answered: this machine has no file descriptors left: fewer --connections/,
    },
    { state: soFar(3_000, { ENOTFOUND: 1 }), line: /^Nothing answers at example\.com: ENOTFOUND/ },
    {
      state: soFar(500, { 401: 10 }),
      line: /^example\.com answers 401 and never 200: the secret is wrong/,
    },
    { state: soFar(500, { 404: 10 }), line: /404 and never 200: this path does not exist/ },
    {
      state: soFar(500, { 403: 10 }),
      line: /403 and never 200: something before the receiver rejects it/,
    },
    { state: soFar(500, { 308: 10 }), line: /308 and never 200: it redirects/ },
    {
      state: soFar(5_000, { 429: 3, 401: 100_000, 503: 1, ECONNRESET: 2 }),
      line: /the secret is wrong/,
    },
  ])('it is aborted as useless: $line', ({ state, line }) => {
    expect(abortReason(state)).toMatch(line);
  });

  test('a machine that falls behind is reported, with advice', () => {
    expect(senderTooSlow({ lateBy: 100 })).toBeUndefined();
    expect(senderTooSlow({ lateBy: 1_234 })).toMatch(
      /cannot keep the rate: it is 1\.2 s behind\. Lower --rate/,
    );
  });
});

describe('a report', () => {
  test('says that its figures cannot be trusted if deliveries were sent late', () => {
    const run = ranAs(planned(), () => ({ sentLate: 150 }));
    expect(told(run)).toMatch(
      /Do not trust these figures: 100 % of the deliveries were sent more than 100 ms late/,
    );
    expect(told(ranAs())).not.toContain('trusted');
  });

  test('of a rate that was not kept is a failure, even if all answers were 200', () => {
    const succeeded = (given: Partial<Run>) =>
      makeReport(ranAs(planned(), undefined, given), UNREAD).succeeded;
    expect(succeeded({})).toBe(true);
    expect(succeeded({ tooSlow: senderTooSlow({ lateBy: 1_234 }) ?? '' })).toBe(false);
    expect(succeeded(ranAs(planned(), () => ({ sentLate: 150 })))).toBe(false);
  });

  test('counts the sender’s delay as part of the receipt', () => {
    const { measurements } = ranAs(planned(), () => ({ sentLate: 500, takes: 20 }));
    expect(measurements.receipt.percentile(50)).toBeGreaterThan(510);
  });

  const ramp = planned({ rate: 100, seconds: 10, ramp: true });

  test.each<{ fate: (second: number) => Fate; line: RegExp }>([
    { fate: (second) => (second < 6 ? {} : { came: 503 }), line: /breaks at 70 a second: 100 % not 200/ },
    { fate: (second) => (second < 3 ? {} : { takes: 1_500 }), line: /breaks at 40 a second: p99 above/ },
    { fate: (second) => (second < 8 ? {} : { sentLate: 300 }), line: /breaks at 90 a second: sent late/ },
  ])('of a ramp names the step at which it breaks: $line', ({ fate, line }) => {
    expect(told(ranAs(ramp, fate))).toMatch(line);
  });

  test('of a ramp that holds says so', () => {
    expect(told(ranAs(ramp))).toContain('It holds at 100 a second');
  });

  /** A ramp that ended in its fourth second, and the results until then. */
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

  test('of an interrupted ramp does not count that as a break', () => {
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

  test('of a ramp that ended because nothing was answered names the step', () => {
    const { measurements } = cutRamp();
    // The third second was sent completely, the fourth was not.
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
    expect(told(run)).toContain('It ended during the first step');
  });

  test('without any deliveries has a text and a picture', () => {
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

  test('has a point for each slice of a long run', () => {
    const plan = planned({ rate: 1, seconds: 300 });
    const picture = drawReport(makeReport(ranAs(plan), UNREAD));
    expect(picture).not.toMatch(/NaN|Infinity|undefined/);
    const [, path = ''] = /<path class="line p99" d="(M[^"]+L[^"]+)"/.exec(picture) ?? [];
    expect(path.split(/[ML]/).slice(1)).toHaveLength(100);
  });
});
