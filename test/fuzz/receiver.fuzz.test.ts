import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestAws, type TestAws } from '../support/test-aws.ts';
import { modelledEvents } from './bodies.ts';
import { FuzzedReceiver } from './receiver-fuzz.ts';

/** `npm run fuzz` sends more, and other ones. */
const REQUESTS = 2_000;
const SEED = 1;

let aws: TestAws;
beforeAll(async () => {
  aws = await startTestAws();
});
afterAll(() => aws.close());

test.each(['http', 'rest'] as const)(
  'whatever comes in through gateway %s is answered as the decisions say, and what is signed is kept',
  async (gateway) => {
    const receiver = await FuzzedReceiver.load(aws, gateway);
    try {
      const { statuses, messages, stored, violation } = await receiver.fuzz(REQUESTS, SEED);
      expect(violation).toBeUndefined();
      // The generator must go everywhere, or it shows nothing.
      expect(Object.keys(statuses)).toEqual(['200', '400', '401']);
      expect(Object.values(statuses).every((count) => count > REQUESTS / 10)).toBe(true);
      expect(Object.keys(messages).sort()).toEqual([...modelledEvents, 'quarantine', 'unrouted'].sort());
      expect(stored).toBeGreaterThan(0);
    } finally {
      receiver.close();
    }
  },
);
