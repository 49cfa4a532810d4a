import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readSecretValue } from './secret-value.ts';

/** Age at which a cached secret is read again, in milliseconds (design D12). */
const MAXIMUM_AGE = 5 * 60_000;

/** Least time between two reads that mismatches or failures cause, in milliseconds (design D12). */
const REFRESH_INTERVAL = 30_000;

export interface WebhookSecretsOptions {
  readonly client: SecretsManagerClient;
  readonly secretId: string;
  /** Told of a failed read while a cached secret goes on serving. */
  readonly onStale: (error: unknown) => void;
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
}

/**
 * The webhook secret, cached for one function instance (design D12). It is read again when it is
 * old, and when a signature does not match it: so a rotation works at once, while a flood of bad
 * signatures cannot drive calls. While Secrets Manager is down, what is cached goes on serving.
 */
export class WebhookSecrets {
  readonly #options: WebhookSecretsOptions;
  readonly #now: () => number;
  #secrets: readonly string[] | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #refreshedAt = Number.NEGATIVE_INFINITY;

  constructor(options: WebhookSecretsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * The secrets that a signature may have been made with.
   * @throws the client's error, or UnusableSecretError, where none is cached and none can be read
   */
  async accepted(): Promise<readonly string[]> {
    if (this.#secrets === undefined) return this.#read();
    if (this.#now() - this.#readAt >= MAXIMUM_AGE) await this.#refresh();
    return this.#secrets;
  }

  /**
   * The secrets to try once more with after a mismatch.
   * @returns undefined where they were read too recently to be read again, or cannot be
   */
  async afterMismatch(): Promise<readonly string[] | undefined> {
    return this.#refresh();
  }

  async #refresh(): Promise<readonly string[] | undefined> {
    if (this.#now() - this.#refreshedAt < REFRESH_INTERVAL) return undefined;
    this.#refreshedAt = this.#now();
    try {
      return await this.#read();
    } catch (error) {
      this.#options.onStale(error);
      return undefined;
    }
  }

  async #read(): Promise<readonly string[]> {
    const { SecretString } = await this.#options.client.send(
      new GetSecretValueCommand({ SecretId: this.#options.secretId }),
    );
    this.#secrets = [readSecretValue(SecretString)];
    this.#readAt = this.#now();
    return this.#secrets;
  }
}
