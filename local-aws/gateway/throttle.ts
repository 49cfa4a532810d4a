/** Rate limits of a stage: requests a second, and burst. */
export interface ThrottleSettings {
  readonly rate: number;
  readonly burst: number;
}

/**
 * API Gateway's token bucket
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html). AWS
 * throttles "on a best-effort basis"; this class is exact.
 */
export class Throttle {
  readonly #settings: ThrottleSettings;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** @param now a clock, in milliseconds */
  constructor(settings: ThrottleSettings, now: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#now = now;
    this.#tokens = settings.burst;
    this.#filledAt = now();
  }

  admit(): boolean {
    const { rate, burst } = this.#settings;
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * rate);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
