import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import { GATEWAY_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
import type { ProgressDisplay } from '../terminal/progress.ts';
import { type LoadDelivery, loadDeliveries } from './deliveries.ts';
import { LoadMeasurements, UNDER_WAY } from './measurements.ts';
import type { LoadPlan } from './plan.ts';

/** Milliseconds after which no answer can arrive any more: longer than the longest timeout of a gateway. */
const NO_ANSWER_AFTER = (GATEWAY_TIMEOUT_SECONDS.http + 1) * 1000;

/** Milliseconds between two checks of the run. */
const PROGRESS_INTERVAL = 250;

/** Maximum late deliveries that are sent in a row, before answers are read again. */
const MAX_AT_ONCE = 64;

/** Milliseconds after which an idle connection is closed: before a server closes it, which would look like an error. */
const IDLE = 4_000;

/**
 * Sends deliveries by the clock, regardless of how long answers take. So if the receiver stalls, all deliveries of that
 * time show the delay, not only those in progress (decision 38).
 */
export class LoadRun {
  readonly plan: LoadPlan;
  readonly url: URL;
  readonly measurements: LoadMeasurements;
  /** When the run began, in epoch milliseconds. */
  readonly begin = Date.now();
  /** Why the run ended early. Undefined otherwise. */
  ended: string | undefined;
  readonly #begunAt = performance.now();
  readonly #request: typeof httpRequest;
  readonly #agent: HttpAgent;
  /** Functions that end the deliveries without an answer, by their numbers. */
  readonly #underWay = new Map<number, (ending: string) => void>();

  constructor(plan: LoadPlan, url: URL) {
    this.plan = plan;
    this.url = url;
    this.measurements = new LoadMeasurements(plan);
    const isSecure = url.protocol === 'https:';
    const options = { keepAlive: true, timeout: IDLE, maxSockets: plan.connections };
    this.#agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
    this.#request = isSecure ? httpsRequest : httpRequest;
  }

  /** Sends all deliveries and waits for the answers, unless it is interrupted or useless. */
  async send(secret: string, signal: AbortSignal, progress: ProgressDisplay): Promise<void> {
    const early = new AbortController();
    const until = AbortSignal.any([signal, early.signal]);
    const showing = setInterval(() => {
      const { sent, wanted, failed } = this.measurements.total;
      const note = `${count(this.#underWay.size)} unanswered, ${count(failed)} not 200`;
      progress.show({ doing: 'Sending', done: sent, total: wanted, unit: 'deliveries', note });
      this.ended ??= abortReason(this.#elapsed, this.#underWay.size, this.measurements.endings);
      if (this.ended !== undefined) early.abort();
    }, PROGRESS_INTERVAL);
    try {
      for (const delivery of loadDeliveries(this.plan, secret, this.begin)) {
        const wait = delivery.due - this.#elapsed;
        if (wait > 0) await sleep(wait, undefined, { signal: until }).catch(() => {});
        else if (delivery.number % MAX_AT_ONCE === 0) await nextTurn();
        if (until.aborted) break;
        this.#send(delivery);
      }
      while (this.#underWay.size > 0 && !until.aborted) await sleep(20);
      if (signal.aborted) this.ended = 'It was interrupted.';
    } finally {
      clearInterval(showing);
      progress.end();
      for (const abandon of this.#underWay.values()) abandon(UNDER_WAY);
      this.#agent.destroy();
    }
  }

  /** Milliseconds since the run began. */
  get #elapsed(): number {
    return performance.now() - this.#begunAt;
  }

  #send({ number, due, body, signature }: LoadDelivery): void {
    this.measurements.begin(due, this.#elapsed);
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-webhook-signature': signature,
    };
    const request = this.#request(this.url, { method: 'POST', agent: this.#agent, headers }, (response) => {
      response.on('error', fail).on('end', () => end(response.statusCode ?? 0));
      response.resume();
    });
    const end = (ending: number | string) => {
      clearTimeout(timeout);
      // A request may still fail after its delivery has ended.
      if (this.#underWay.delete(number)) this.measurements.end(number, due, this.#elapsed, ending);
    };
    const fail = (error: NodeJS.ErrnoException) => end(error.code ?? error.name);
    const abandon = (ending: string) => {
      end(ending);
      request.destroy();
    };
    const timeout = setTimeout(abandon, NO_ANSWER_AFTER, 'no answer');
    this.#underWay.set(number, abandon);
    request.on('error', fail).end(body);
  }
}

/** Maximum number of deliveries without an answer. Each takes 6 to 13 kB (measured), all about a gigabyte. */
const MAX_UNDER_WAY = 100_000;

/**
 * Number of answers, or else milliseconds, after which a run without any answer 200 is aborted. A cold start takes a
 * second or two.
 */
const ENOUGH = { endings: 10, milliseconds: 10_000 };

/** Probable causes of an answer or an error, by status or error code. */
export const MEANINGS: Readonly<Record<string, string>> = {
  401: 'the secret is wrong: set the right one with WEBHOOK_SECRET or --secret',
  403: `rejected by a firewall, or by a REST API without this path: the path ends in ${WEBHOOK_PATH}`,
  404: `this path does not exist: the path ends in ${WEBHOOK_PATH}`,
  429: 'throttled: above the stage’s apiThrottle, or the account’s rate',
  500: 'could not be stored; with a REST API also throttled',
  503: 'the receiver is throttled or timed out',
  'no answer': `within ${NO_ANSWER_AFTER / 1_000} s`,
  EADDRNOTAVAIL: 'this machine has no ports left: fewer --connections',
  EMFILE: 'this machine has no file descriptors left: fewer --connections, or a higher ulimit -n',
};

/** @returns why continuing is useless; undefined if it is not */
export function abortReason(
  elapsed: number,
  underWay: number,
  endings: ReadonlyMap<number | string, number>,
) {
  if (underWay >= MAX_UNDER_WAY) {
    return `${count(underWay)} deliveries wait for an answer. Lower --rate, or check that the host is running.`;
  }
  const [[most, times] = ['nothing', 0]] = [...endings].sort(([, one], [, other]) => other - one);
  // Too early to judge: errors arrive before the slow answers of cold starts.
  const isEarly = times < Math.max(ENOUGH.endings, underWay) && elapsed < ENOUGH.milliseconds;
  // 429, 500 and 503 may be temporary, and do not show whether address and secret are right.
  const isTemporary = most === 429 || (typeof most === 'number' && most >= 500);
  if (isEarly || isTemporary || endings.has(200)) return undefined;
  return `The host answers ${most} and never 200: ${MEANINGS[most] ?? 'is the address right?'}.`;
}

const count = (value: number) => value.toLocaleString('en');
