import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';

/** What a run has come to so far. */
export interface SoFar {
  readonly host: string;
  /** Milliseconds since it began. */
  readonly elapsed: number;
  /** By status, and by the kind of error where there was no answer. */
  readonly endings: ReadonlyMap<number | string, number>;
  /** Milliseconds by which the next delivery is late. */
  readonly lateBy: number;
  /** Deliveries without an end. */
  readonly underWay: number;
}

/**
 * Deliveries under way at which a run is given up: each was measured to take 6 to 13 kB, so they are about a gigabyte.
 * At the fastest rate it is what comes in five seconds.
 */
export const MOST_UNDER_WAY = 100_000;

/** Deliveries that all ended alike, after which a run is given up, or those of so many milliseconds. */
const ENOUGH = { deliveries: 10, milliseconds: 3_000 };

/** Milliseconds without any answer or error after which it is given up. A cold start takes a second or two. */
const SILENCE = 10_000;

/** Milliseconds: a pause of the garbage collector is shorter. */
const TOO_LATE = 500;

/** Errors that are not the receiver's. */
export const OF_THIS_MACHINE: Readonly<Record<string, string>> = {
  EMFILE: 'this machine has no file descriptors left: fewer --connections, or a higher ulimit -n',
  EADDRNOTAVAIL: 'this machine has no ports left: fewer --connections',
};

/** Answers of a receiver or a gateway that has too much to do: they say nothing of address and secret. */
const OVERLOADED: readonly (number | string)[] = [429, 503];

/** @returns why it is of no use to go on; undefined where it is */
export function uselessness(
  { host, elapsed, endings, underWay }: SoFar,
  mostUnderWay = MOST_UNDER_WAY,
): string | undefined {
  if (underWay >= mostUnderWay) {
    return `${underWay.toLocaleString('en')} deliveries wait for an answer of ${host}, and this machine is to hold no more than ${mostUnderWay.toLocaleString('en')}: it answers more slowly than they are sent, or has too few --connections for it. Lower --rate, or look whether it still runs.`;
  }
  if (endings.size === 0) {
    if (elapsed < SILENCE) return undefined;
    return `${host} has not answered anything for ${SILENCE / 1_000} s. Is it the right address, and does a firewall let this machine through?`;
  }
  const kinds = [...endings.keys()];
  if (kinds.every((kind) => typeof kind === 'string')) {
    // What is under way may still be answered: a cold start takes longer than an error.
    const failed = countOf(endings, kinds);
    if ((failed < underWay && elapsed < SILENCE) || !isEnough(endings, kinds, elapsed)) return undefined;
    const own = kinds.map((kind) => OF_THIS_MACHINE[kind]).find((meaning) => meaning !== undefined);
    if (own !== undefined) return `No delivery was answered: ${own}.`;
    return `Nothing answers at ${host}: ${kinds.join(', ')}. Is it the right address, and does it run?`;
  }
  const telling = kinds.filter((kind) => typeof kind === 'number' && !OVERLOADED.includes(kind));
  const [only] = telling;
  if (telling.length !== 1 || typeof only !== 'number' || !isEnough(endings, telling, elapsed)) {
    return undefined;
  }
  const why = refusal(only);
  return why === undefined ? undefined : `${host} answers ${only} and never 200: ${why}`;
}

function isEnough(endings: SoFar['endings'], kinds: readonly (number | string)[], elapsed: number): boolean {
  return countOf(endings, kinds) >= ENOUGH.deliveries || elapsed >= ENOUGH.milliseconds;
}

const countOf = (endings: SoFar['endings'], kinds: readonly (number | string)[]) =>
  kinds.reduce<number>((sum, kind) => sum + (endings.get(kind) ?? 0), 0);

/** What a status means that comes of every delivery; undefined of one that may pass. */
function refusal(status: number): string | undefined {
  if (status >= 300 && status < 400) {
    return 'it leads to another address, and a delivery is not sent on. Give the one that it leads to';
  }
  if (status === 401) return 'the secret is wrong. Give the one that it knows as WEBHOOK_SECRET or --secret';
  if (status === 403) {
    return `something before the receiver turns it away, such as a firewall, or a REST API that has no such path. Its path ends in ${WEBHOOK_PATH}`;
  }
  if (status === 404) {
    return `there is no such path. Is it the whole address? Its path ends in ${WEBHOOK_PATH}`;
  }
  return undefined;
}

/** @returns what to say where the machine that sends is too slow; undefined where it is not */
export function slowness({ lateBy }: Pick<SoFar, 'lateBy'>): string | undefined {
  if (lateBy < TOO_LATE) return undefined;
  return `This machine cannot keep the rate: it is ${(lateBy / 1_000).toFixed(1)} s behind. Lower --rate, end what else runs here, or send from several machines at a part of the rate each.`;
}
