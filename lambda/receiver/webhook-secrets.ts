import {
  GetSecretValueCommand,
  type GetSecretValueResponse,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import {
  PREVIOUS_SECRET_MAX_AGE,
  SECRET_FIRST_READ_INTERVAL,
  SECRET_MAX_AGE,
  SECRET_REFRESH_INTERVAL,
} from '../limits.ts';
import { readSecretValue, secretDoubt, UnusableSecretError } from './secret-value.ts';

export interface WebhookSecretsOptions {
  readonly client: SecretsManagerClient;
  readonly secretId: string;
}

/** What the request that uses the secret reports about it. */
export interface SecretReports {
  /** A read failed, whether or not something is cached. */
  unreadable(): void;
  /** A read failed, and the cached secret is used instead. */
  stale(error: unknown): void;
  /** Once: the secret is probably not what somebody meant to store ({@link secretDoubt}). */
  doubt(doubt: string): void;
}

interface CachedSecrets {
  readonly current: string;
  /** The secret before the last rotation, and until when it is accepted. */
  readonly previous: { readonly secret: string; readonly until: number } | undefined;
  readonly readAt: number;
}

/**
 * The webhook secret, cached per function instance (decision D12). It is read again when it is old, and when a
 * signature does not match. So a rotation takes effect at once, and a flood of wrong signatures cannot cause many
 * calls. While Secrets Manager is down, the cached secret is used.
 */
export class WebhookSecrets {
  readonly #options: WebhookSecretsOptions;
  #cached: CachedSecrets | undefined;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  /** The last read, if it failed and no secret is cached. */
  #failed: { readonly error: unknown; readonly at: number } | undefined;
  #hasWarned = false;

  constructor(options: WebhookSecretsOptions) {
    this.#options = options;
  }

  /**
   * Reads both versions in parallel, before there is a request. A failure is not reported here: the first request reads
   * again, and reports it.
   * @throws as {@link accepted}, or if the signal is aborted
   */
  async warmUp(abortSignal: AbortSignal): Promise<void> {
    const current = this.#version('AWSCURRENT', abortSignal);
    const previous = this.#readPrevious(abortSignal);
    // The start waits for the end of both reads, because Lambda freezes a function that has started.
    await Promise.allSettled([current, previous]);
    this.#cached = await this.#cacheOf(await current, () => previous);
  }

  /**
   * Whether the test passes with one of the accepted secrets. If not, they are read again once, unless this call has
   * just read them.
   * @throws as {@link accepted}
   */
  async matchesAny(test: (secrets: readonly string[]) => boolean, reports: SecretReports): Promise<boolean> {
    const before = this.#cached;
    if (test(await this.accepted(reports))) return true;
    if (this.#cached !== before) return false;
    const refreshed = await this.afterMismatch(reports);
    return refreshed !== undefined && test(refreshed);
  }

  /**
   * The secrets that are accepted: the current one, and after a rotation also the previous one for a day.
   * @throws the client's error, or UnusableSecretError, if no secret is cached and none can be read. For a second, the
   * error is thrown again without a read
   */
  async accepted(reports: SecretReports): Promise<readonly string[]> {
    if (this.#cached === undefined) await this.#readFirst(reports);
    else if (Date.now() - this.#cached.readAt >= SECRET_MAX_AGE) await this.#refresh('age', reports);
    return this.#secrets(reports);
  }

  /**
   * The secrets to try after a mismatch.
   * @returns undefined if they were read too recently, or cannot be read
   */
  async afterMismatch(reports: SecretReports): Promise<readonly string[] | undefined> {
    return (await this.#refresh('mismatch', reports)) ? this.#secrets(reports) : undefined;
  }

  #secrets(reports: SecretReports): readonly string[] {
    if (this.#cached === undefined) return [];
    const { current, previous } = this.#cached;
    // A doubt is reported here and not after the read: a read during start-up has no request to which the log line
    // could belong.
    const doubt = this.#hasWarned ? undefined : secretDoubt(current);
    if (doubt !== undefined) {
      this.#hasWarned = true;
      reports.doubt(doubt);
    }
    return previous !== undefined && Date.now() < previous.until ? [current, previous.secret] : [current];
  }

  async #refresh(cause: 'age' | 'mismatch', reports: SecretReports): Promise<boolean> {
    if (Date.now() - this.#refreshedAt < SECRET_REFRESH_INTERVAL) return false;
    const before = this.#refreshedAt;
    this.#refreshedAt = Date.now();
    try {
      await this.#read(reports);
      // A read because of age must not prevent a read after a mismatch, which may show a rotation.
      if (cause === 'age') this.#refreshedAt = before;
      return true;
    } catch (error) {
      reports.stale(error);
      return false;
    }
  }

  async #readFirst(reports: SecretReports): Promise<void> {
    if (this.#failed && Date.now() - this.#failed.at < SECRET_FIRST_READ_INTERVAL) throw this.#failed.error;
    try {
      await this.#read(reports);
    } catch (error) {
      this.#failed = { error, at: Date.now() };
      throw error;
    }
  }

  async #read(reports: SecretReports): Promise<void> {
    try {
      this.#cached = await this.#cacheOf(await this.#version('AWSCURRENT'), () => this.#readPrevious());
    } catch (error) {
      reports.unreadable();
      throw error;
    }
  }

  async #cacheOf(
    { SecretString, CreatedDate }: GetSecretValueResponse,
    readPrevious: () => Promise<string | undefined>,
  ): Promise<CachedSecrets> {
    const current = readSecretValue(SecretString);
    const until = (CreatedDate?.getTime() ?? 0) + PREVIOUS_SECRET_MAX_AGE;
    // The previous version matters, and costs a call, only until then.
    const previous = Date.now() < until ? await readPrevious() : undefined;
    return {
      current,
      previous: previous === undefined ? undefined : { secret: previous, until },
      readAt: Date.now(),
    };
  }

  /** @returns undefined if the secret was never rotated, or its previous value is unusable */
  async #readPrevious(abortSignal?: AbortSignal): Promise<string | undefined> {
    try {
      return readSecretValue((await this.#version('AWSPREVIOUS', abortSignal)).SecretString);
    } catch (error) {
      if (error instanceof ResourceNotFoundException || error instanceof UnusableSecretError)
        return undefined;
      throw error;
    }
  }

  #version(VersionStage: 'AWSCURRENT' | 'AWSPREVIOUS', abortSignal?: AbortSignal) {
    const command = new GetSecretValueCommand({ SecretId: this.#options.secretId, VersionStage });
    return this.#options.client.send(command, { ...(abortSignal && { abortSignal }) });
  }
}
