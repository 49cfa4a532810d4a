import { describe, expect, test } from '@jest/globals';
import { readSamples } from '../../../../events/samples.ts';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { parsePayload } from '../../../../lambda/events/envelope.ts';
import { decodeSignature, verify } from '../../../../lambda/receiver/signature.ts';
import { parseMix } from '../../../../tools/measure/cost/workload.ts';
import { Deliveries, numberReader, SIGNATURE_LENGTH } from '../../../../tools/measure/load/deliveries.ts';
import { ratesOf, stepsOf } from '../../../../tools/measure/load/plan.ts';
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

  test('are events of the contract, and no two have the same bytes', () => {
    const bodies = made().map(({ body }) => body);
    expect(bodies.map((body) => parsePayload(body).kind)).toEqual(bodies.map(() => 'event'));
    expect(new Set(bodies.map(String)).size).toBe(bodies.length);
  });

  test('have the mix in any stretch of them', () => {
    const plan = planned({ mix: parseMix('shop.updated=3,review.posted=1') });
    const events = made(plan).map(({ body }) => JSON.parse(String(body)).event);
    for (const begin of [0, 100, 300]) {
      const stretch = events.slice(begin, begin + 100);
      expect(stretch.filter((event) => event === 'shop.updated')).toHaveLength(75);
      expect(stretch.filter((event) => event === 'review.posted')).toHaveLength(25);
    }
  });

  test('are about so many shops, and any other id is their own', () => {
    const data = made(planned({ shops: 3 }))
      .map(({ body }) => JSON.parse(String(body)))
      .filter(({ event }) => event === 'user.updated')
      .map((payload) => payload.data);
    expect(new Set(data.map(({ shop_id }) => shop_id)).size).toBe(3);
    expect(new Set(data.map(({ user_id }) => user_id)).size).toBe(data.length);
  });

  test('say when they are to be sent, in order, so many in each second', () => {
    const all = made();
    expect(all.map(({ due }) => due)).toEqual(all.map(({ due }) => due).sort((one, other) => one - other));
    expect(all.filter(({ due }) => due < BEGIN + 1_000)).toHaveLength(200);
    const times = all.map(({ body }) => Date.parse(JSON.parse(String(body)).timestamp));
    expect(times).toEqual(all.map(({ due }) => Math.floor(due)));
  });

  test('are told by their run and number from those of others', () => {
    const bodies = made().map(({ body }) => String(body));
    expect(bodies.map(numberReader('0a1b2c3d'))).toEqual(bodies.map((_, index) => index));
    expect(bodies.map(numberReader('ffffffff'))).toEqual(bodies.map(() => undefined));
  });
});

describe('a plan', () => {
  test('without a ramp has its rate in each second', () => {
    expect(ratesOf({ rate: 50, seconds: 3, ramp: false })).toEqual([50, 50, 50]);
  });

  test('with a ramp rises in ten steps to its rate', () => {
    const steps = stepsOf({ rate: 500, seconds: 25, ramp: true });
    expect(steps.map(({ rate }) => rate)).toEqual([50, 100, 150, 200, 250, 300, 350, 400, 450, 500]);
    expect(steps.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(25);
  });

  test.each(eventNames)('has a sample of %s', (event) => {
    const plan = planned({ mix: parseMix(`${event}=1`) });
    expect(JSON.parse(String(made(plan, 1)[0]?.body)).event).toBe(event);
  });
});
