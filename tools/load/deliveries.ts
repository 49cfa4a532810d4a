import { readSamples } from '../../events/samples.ts';
import { signatureOf } from '../../events/signing.ts';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { type LoadPlan, partsOf } from './plan.ts';

export interface LoadDelivery {
  readonly number: number;
  /** When the delivery is to be sent, in milliseconds since the run began. */
  readonly due: number;
  readonly body: Buffer;
  readonly signature: string;
}

/**
 * Makes and signs the deliveries of a run, one by one, in order. Each has its own `webhookId`, made of the run and its
 * number, so each is a different event with its own signature.
 * @param began epoch milliseconds
 */
export function* loadDeliveries(plan: LoadPlan, secret: string, began: number): Generator<LoadDelivery> {
  const { mix, run, shops } = plan;
  /** For each event, by how many deliveries it is behind its share. */
  const owed = readSamples().map(({ event, payload }) => ({ event: event as EventName, payload, behind: 0 }));
  let number = 0;
  for (const due of dueTimes(plan)) {
    for (const one of owed) one.behind += mix[one.event];
    // The event that is furthest behind. This keeps the mix in every part of the run.
    const most = owed.reduce((first, one) => (one.behind > first.behind ? one : first));
    most.behind -= 1;
    const webhookId = `load-${run}-${number}`;
    const data = Object.entries(most.payload.data as object).map(([field, value]) => {
      if (field === 'shop_id') return [field, `load-${run}-shop-${Math.floor(Math.random() * shops)}`];
      return [field, field.endsWith('_id') ? webhookId : value];
    });
    const timestamp = new Date(began + due);
    const payload = { ...most.payload, data: Object.fromEntries(data), timestamp, webhookId };
    const body = Buffer.from(JSON.stringify(payload));
    yield { number: number++, due, body, signature: signatureOf({ body, secret }) };
  }
}

/** The times of deliveries: random, with a fixed number of deliveries in each second. */
function* dueTimes(plan: LoadPlan): Generator<number> {
  for (const { rate, begin, seconds } of partsOf(plan)) {
    for (let second = begin; second < begin + seconds; second += 1) {
      yield* Float64Array.from({ length: rate }, () => (second + Math.random()) * 1_000).sort();
    }
  }
}

/**
 * The number of a delivery, read from its body.
 * @returns undefined for a delivery of another run
 */
export function numberIn(body: string, run: string): number | undefined {
  const [, name, number] = /"webhookId":"load-([0-9a-f]+)-(\d+)"/.exec(body) ?? [];
  return name === run ? Number(number) : undefined;
}
