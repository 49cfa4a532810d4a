import { setTimeout as sleep } from 'node:timers/promises';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import type { Ledger } from './ledger.ts';

/** Milliseconds between two looks at how far a replay is. */
const INTERVAL = 200;

/** Shows how far a replay is, and what it waits for. */
export class Display {
  readonly #progress: ProgressDisplay;
  readonly #total: number;
  readonly #ledger: Ledger;
  /** Messages that were sent before this run. */
  readonly #before: number;
  readonly #timer: NodeJS.Timeout;
  #held: string | undefined;
  #wait: { readonly since: number; readonly until: number } | undefined;

  /** @param total messages of the plan */
  constructor(progress: ProgressDisplay, total: number, ledger: Ledger) {
    this.#progress = progress;
    this.#total = total;
    this.#ledger = ledger;
    this.#before = ledger.sent;
    this.#timer = setInterval(() => this.#show(), INTERVAL);
  }

  /** @param reason why nothing is sent at the moment; undefined where something is */
  hold(reason: string | undefined): void {
    this.#held = reason;
  }

  /** Waits for what comes late, until a time or until the signal ends that. */
  async whileWaiting(until: number, signal: AbortSignal): Promise<void> {
    const since = Date.now();
    this.#wait = { since, until };
    await sleep(Math.max(0, until - since), undefined, { signal }).catch(() => {});
    this.#wait = undefined;
  }

  end(): void {
    clearInterval(this.#timer);
    this.#progress.end();
  }

  #show(): void {
    if (this.#wait !== undefined) {
      const { since, until } = this.#wait;
      const [done, total] = [seconds(Date.now() - since), seconds(until - since)];
      this.#progress.show({ doing: 'Waiting for what Firehose has yet to write', done, total, unit: 's' });
      return;
    }
    const done = this.#ledger.sent - this.#before;
    const note = this.#held ?? (this.#before > 0 ? `${this.#before.toLocaleString('en')} before` : '');
    const total = Math.max(done, this.#total - this.#before);
    this.#progress.show({ doing: 'Replaying', done, total, unit: 'messages', note });
  }
}

const seconds = (milliseconds: number) => Math.round(milliseconds / 1000);
