import { setTimeout as sleep } from 'node:timers/promises';
import { signBody } from '../support/partner.ts';

/** Repeats of one post before the simulated partner gives up, far beyond what any fault lasts. */
const MAXIMUM_REPEATS = 120;

/** Longest pause before a repeat, in milliseconds. */
const MAXIMUM_PAUSE = 1_000;

/** Repeats of a forged post: it is refused each time. */
const FORGED_REPEATS = 1;

/** The partner as the contract describes it: posts, and repeats on 401 and 500. */
export class PartnerSimulator {
  /** The secret that posts are signed with from now on. */
  secret: string;
  /** Answers by status; `none` where the connection broke. */
  readonly answers: Record<string, number> = {};
  readonly #url: string;

  constructor(url: string, secret: string) {
    this.#url = url;
    this.secret = secret;
  }

  /**
   * Posts a body until it is answered 200 or 400.
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
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-webhook-signature': signBody(body, forged ? 'forged' : this.secret),
        },
        body,
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  }
}
