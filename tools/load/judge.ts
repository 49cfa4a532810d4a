import { WEBHOOK_PATH } from '../../lambda/contract/webhook-path.ts';

/** What a run has come to so far. */
export interface SoFar {
  readonly host: string;
  /** Milliseconds since it began. */
  readonly elapsed: number;
  /** By status, and by the kind of error where there was no answer. */
  readonly endings: ReadonlyMap<number | string, number>;
  /** Milliseconds by which the next delivery is late. */
  readonly lateBy: number;
}

/** Deliveries that all ended alike, after which a run is given up, or those of so many milliseconds. */
const ENOUGH = { deliveries: 10, milliseconds: 3_000 };

/** Milliseconds without any answer or error after which it is given up. A cold start takes a second or two. */
const SILENCE = 10_000;

/** Milliseconds: a pause of the garbage collector is shorter. */
const TOO_LATE = 500;

/** @returns why it is of no use to go on; undefined where it is */
export function uselessness({ host, elapsed, endings }: SoFar): string | undefined {
  const ended = [...endings.values()].reduce((sum, count) => sum + count, 0);
  if (ended === 0) {
    if (elapsed < SILENCE) return undefined;
    return `${host} has not answered anything for ${SILENCE / 1_000} s. Is it the right address, and does a firewall let this machine through?`;
  }
  if (ended < ENOUGH.deliveries && elapsed < ENOUGH.milliseconds) return undefined;
  const kinds = [...endings.keys()];
  if (kinds.every((kind) => typeof kind === 'string')) {
    return `Nothing answers at ${host}: ${kinds.join(', ')}. Is it the right address, and does it run?`;
  }
  const [only] = kinds;
  if (kinds.length > 1) return undefined;
  if (only === 401) {
    return `${host} answers 401 and nothing else: the secret is wrong. Give the one that it knows as WEBHOOK_SECRET or --secret`;
  }
  if (only === 404 || only === 403) {
    return `${host} answers ${only} and nothing else: is it the whole address? Its path ends in ${WEBHOOK_PATH}`;
  }
  return undefined;
}

/** @returns what to say where the machine that sends is too slow; undefined where it is not */
export function slowness({ lateBy }: Pick<SoFar, 'lateBy'>): string | undefined {
  if (lateBy < TOO_LATE) return undefined;
  return `This machine cannot keep the rate: it is ${(lateBy / 1_000).toFixed(1)} s behind. Lower --rate, end what else runs here, or send from several machines at a part of the rate each.`;
}
