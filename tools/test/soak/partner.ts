import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Partner } from '../../../test/support/partner.ts';

/** Kind of a body. It determines the expected result. */
export type Kind = 'state' | 'notification' | 'hopeless' | 'unknown' | 'malformed' | 'forged' | 'clock-ahead';

/** A body that the simulated partner posts once or more. */
export interface PlannedBody {
  readonly kind: Kind;
  readonly body: string;
  /** Number of posts, without retries after 401 and 500. */
  readonly posts: number;
}

/** Share of the bodies of each special kind. All others are usual events of the contract. */
const SHARES = {
  forged: 0.05,
  malformed: 0.04,
  unknown: 0.03,
  large: 0.01,
  hopeless: 0.005,
  'clock-ahead': 0.005,
};

/** Share of the bodies that are posted once or twice more. */
const DUPLICATE_SHARE = 0.1;

/** Average number of events for the same item. */
const BODIES_PER_ID = 15;

/** Bytes of a payload that is too large for SQS, whose limit is 1 MiB. */
const LARGE_PAYLOAD_BYTES = 1_100_000;

/** End of the hour in which all events happened. */
const EPOCH = Date.parse('2026-01-31T09:00:00Z');

/**
 * Makes the partner's plan: about `deliveries` posts, in an order that does not follow the timestamps. The
 * same seed gives the same plan.
 */
export function makePlan({ deliveries, seed }: { deliveries: number; seed: number }): PlannedBody[] {
  const ids = Math.max(2, Math.round(deliveries / BODIES_PER_ID));
  // A fraction of whole steps, because fast-check generates mostly tiny doubles.
  const share = fc.nat(9_999).map((tenThousandths) => tenThousandths / 10_000);
  const draws = fc.sample(
    fc.noBias(
      fc.record({
        lot: share,
        again: share,
        variant: fc.nat(999),
        id: fc.nat(ids - 1),
        millisecondsAgo: fc.nat(60 * 60_000),
        words: fc.array(fc.constantFrom('Sora', 'Umi', '日本', '😀', 'x\ufffey', undefined), {
          minLength: 3,
          maxLength: 3,
        }),
      }),
    ),
    { seed, numRuns: Math.ceil(deliveries / (1 + DUPLICATE_SHARE * 1.5)) },
  );
  return draws.map(({ lot, again, variant, id, millisecondsAgo, words }, index) => {
    const kind = kindOf(lot, variant);
    const timestamp = new Date(EPOCH - millisecondsAgo).toISOString();
    const body = BODIES[kind]({ id, index, timestamp, variant, words });
    const once = kind === 'large' || (kind !== 'clock-ahead' && again >= DUPLICATE_SHARE);
    return { kind: kind === 'large' ? 'state' : kind, body, posts: once ? 1 : 2 + (variant % 2) };
  });
}

function kindOf(lot: number, variant: number): Kind | 'large' {
  let sum = 0;
  for (const [kind, share] of Object.entries(SHARES)) {
    sum += share;
    if (lot < sum) return kind as Kind | 'large';
  }
  return variant % 3 === 0 ? 'notification' : 'state';
}

interface Draw {
  readonly id: number;
  readonly index: number;
  readonly timestamp: string;
  readonly variant: number;
  readonly words: readonly (string | undefined)[];
}

const json = (event: string, data: object, { index, timestamp }: Draw) =>
  JSON.stringify({ event, data, timestamp, webhookId: `w-${index}` });

const BODIES: Readonly<Record<Kind | 'large', (draw: Draw) => string>> = {
  state: stateEvent,
  notification: (draw) => {
    const { id, index, variant, words } = draw;
    const shop_id = `shop-${id}`;
    if (variant % 2 === 0) return json('girl.schedule_changed', { shop_id, name: words[0] }, draw);
    const review_id = `review-${index}`;
    return json('review.posted', { review_id, shop_id, rating: 5, comment: words[1] }, draw);
  },
  large: (draw) => {
    const notes = 'x'.repeat(LARGE_PAYLOAD_BYTES);
    return json('girl.created', { girl_id: `large-${draw.index}`, name: draw.words[0], notes }, draw);
  },
  // A body that can never be processed. The receiver would answer 400, so the message is put on the queue directly.
  hopeless: (draw) => json('user.updated', { user_id: `hopeless-${draw.index}`, display_name: 5 }, draw),
  unknown: (draw) => json('example.unknown', { shop_id: `shop-${draw.id}` }, draw),
  malformed: ({ variant, index, timestamp }) => {
    const data = { shop_id: `malformed-${index}` };
    const bodies = [
      `{"event":"shop.updated","data":{"shop_id":"malformed-${index}"`,
      JSON.stringify({ event: 'shop.updated', data, timestamp: `day ${index}` }),
      JSON.stringify({ event: 'user.updated', data, timestamp }),
      JSON.stringify([`malformed-${index}`]),
    ];
    return bodies[variant % bodies.length] ?? '';
  },
  forged: (draw) => json('user.updated', { user_id: `forged-${draw.index}`, display_name: 'never' }, draw),
  'clock-ahead': (draw) => {
    const ahead = { ...draw, timestamp: '9999-12-31T23:59:59.000Z' };
    const id = `ahead-${draw.index}`;
    return draw.variant % 2 === 0
      ? json('shop.updated', { shop_id: id }, ahead)
      : json('user.updated', { user_id: id, display_name: 'x' }, ahead);
  },
};

function stateEvent(draw: Draw): string {
  const { id, variant, words } = draw;
  const [first, second, third] = words;
  const shop_id = `shop-${id}`;
  const girl_id = `girl-${id}`;
  switch (variant % 4) {
    case 0:
      return json('shop.updated', { shop_id, updated_fields: [first ?? 'name', second ?? 'address'] }, draw);
    case 1:
      return json('girl.created', { girl_id, shop_id, name: first }, draw);
    case 2:
      return json('girl.deleted', { girl_id, shop_id }, draw);
    default: {
      const fields = { shop_id: first, display_name: second, profile_image_url: third };
      return json('user.updated', { user_id: `user-${id}`, ...fields }, draw);
    }
  }
}

/** Maximum retries of a post. No fault lasts as long. */
const MAXIMUM_REPEATS = 120;

/** Maximum milliseconds between two retries. */
const MAXIMUM_PAUSE = 1_000;

/** Number of retries of a forged post. Each must be rejected. */
const FORGED_REPEATS = 1;

/** The partner as the contract describes it: retries after 401 and 500. */
export class PartnerSimulator {
  /** Secret that posts are signed with at the moment. */
  secret: string;
  /** Number of answers by status; `none` counts broken connections. */
  readonly answers: Record<string, number> = {};
  readonly #partner: Partner;

  constructor(url: string, secret: string) {
    this.#partner = new Partner(url);
    this.secret = secret;
  }

  /**
   * Posts a body until the answer is 200 or 400.
   * @returns the last status
   */
  async deliver(body: string, { forged = false } = {}): Promise<number> {
    const limit = forged ? FORGED_REPEATS : MAXIMUM_REPEATS;
    for (let repeat = 0; ; repeat += 1) {
      const status = await this.#post(body, forged);
      const name = status === 0 ? 'none' : String(status);
      this.answers[name] = (this.answers[name] ?? 0) + 1;
      if (status === 200 || status === 400 || repeat === limit) return status;
      await sleep(Math.min(MAXIMUM_PAUSE, 20 * 2 ** repeat));
    }
  }

  async #post(body: string, forged: boolean): Promise<number> {
    try {
      return (await this.#partner.post(body, { secret: forged ? 'forged' : this.secret })).status;
    } catch {
      return 0;
    }
  }
}
