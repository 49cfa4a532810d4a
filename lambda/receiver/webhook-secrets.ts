import {
  GetSecretValueCommand,
  type GetSecretValueResponse,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { BYTE_ORDER_MARK } from '../events/envelope.ts';
import { SECRET_FIRST_READ_INTERVAL, SECRET_MAX_AGE, SECRET_REFRESH_INTERVAL } from '../limits.ts';
import { SECRET_HAS_WHITE_SPACE, SECRET_LOOKS_LIKE_JSON } from '../log-messages.ts';

export interface WebhookSecretsOptions {
  readonly client: SecretsManagerClient;
  readonly secretId: string;
  /** How long after a rotation the previous secret is accepted, in milliseconds. */
  readonly gracePeriod: number;
  /** Called after each failed read, whether or not something is cached. */
  readonly onUnreadable: () => Promise<void>;
  /** Called after a failed read if a cached secret is used instead. */
  readonly onStale: (error: unknown) => Promise<void>;
  /** Called once if the secret is probably not what somebody meant to store: see {@link secretDoubt}. */
  readonly onDoubt: (doubt: string) => void;
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
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
  readonly #now: () => number;
  #cached: CachedSecrets | undefined;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  /** The last read, if it failed and no secret is cached. */
  #failed: { readonly error: unknown; readonly at: number } | undefined;
  #hasWarned = false;

  constructor(options: WebhookSecretsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
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
  async matchesAny(test: (secrets: readonly string[]) => boolean): Promise<boolean> {
    const before = this.#cached;
    if (test(await this.accepted())) return true;
    if (this.#cached !== before) return false;
    const refreshed = await this.afterMismatch();
    return refreshed !== undefined && test(refreshed);
  }

  /**
   * The secrets that are accepted: the current one, and after a rotation also the previous one for the grace period.
   * @throws the client's error, or UnusableSecretError, if no secret is cached and none can be read. For a second, the
   * error is thrown again without a read
   */
  async accepted(): Promise<readonly string[]> {
    if (this.#cached === undefined) await this.#readFirst();
    else if (this.#now() - this.#cached.readAt >= SECRET_MAX_AGE) await this.#refresh('age');
    return this.#secrets();
  }

  /**
   * The secrets to try after a mismatch.
   * @returns undefined if they were read too recently, or cannot be read
   */
  async afterMismatch(): Promise<readonly string[] | undefined> {
    return (await this.#refresh('mismatch')) ? this.#secrets() : undefined;
  }

  #secrets(): readonly string[] {
    if (this.#cached === undefined) return [];
    const { current, previous } = this.#cached;
    // A doubt is reported here and not after the read: a read during start-up has no request to which the log line
    // could belong.
    const doubt = this.#hasWarned ? undefined : secretDoubt(current);
    if (doubt !== undefined) {
      this.#hasWarned = true;
      this.#options.onDoubt(doubt);
    }
    return previous !== undefined && this.#now() < previous.until ? [current, previous.secret] : [current];
  }

  async #refresh(cause: 'age' | 'mismatch'): Promise<boolean> {
    if (this.#now() - this.#refreshedAt < SECRET_REFRESH_INTERVAL) return false;
    const before = this.#refreshedAt;
    this.#refreshedAt = this.#now();
    try {
      await this.#read();
      // A read because of age must not prevent a read after a mismatch, which may show a rotation.
      if (cause === 'age') this.#refreshedAt = before;
      return true;
    } catch (error) {
      await this.#options.onStale(error);
      return false;
    }
  }

  async #readFirst(): Promise<void> {
    if (this.#failed && this.#now() - this.#failed.at < SECRET_FIRST_READ_INTERVAL) throw this.#failed.error;
    try {
      await this.#read();
    } catch (error) {
      this.#failed = { error, at: this.#now() };
      throw error;
    }
  }

  async #read(): Promise<void> {
    try {
      this.#cached = await this.#cacheOf(await this.#version('AWSCURRENT'), () => this.#readPrevious());
    } catch (error) {
      await this.#options.onUnreadable();
      throw error;
    }
  }

  async #cacheOf(
    { SecretString, CreatedDate }: GetSecretValueResponse,
    readPrevious: () => Promise<string | undefined>,
  ): Promise<CachedSecrets> {
    const current = readSecretValue(SecretString);
    const until = (CreatedDate?.getTime() ?? 0) + this.#options.gracePeriod;
    // The previous version matters, and costs a call, only within the grace period.
    const previous = this.#now() < until ? await readPrevious() : undefined;
    return {
      current,
      previous: previous === undefined ? undefined : { secret: previous, until },
      readAt: this.#now(),
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

/** The key under which a JSON secret holds the webhook secret (`docs/contract.md`, Authentication). */
const SECRET_KEY = 'WEBHOOK_SECRET';

/** The error text never shows the secret. */
export class UnusableSecretError extends Error {
  override readonly name = 'UnusableSecretError';
}

/**
 * Reads a Secrets Manager value (decision D12): the plain secret, or a JSON object with the key `WEBHOOK_SECRET`. Only
 * objects are read as JSON: `123` and `"abc"` are plain secrets.
 * @throws UnusableSecretError if it is empty or white space (anybody could sign with it), or an object without that key
 */
export function readSecretValue(stored: string | undefined): string {
  const secret = stored?.trimStart().startsWith('{') ? fromJson(stored) : stored;
  if (typeof secret !== 'string' || secret.trim() === '') {
    throw new UnusableSecretError(
      `The stored secret is empty, only white space, binary, or a JSON object without such a string under ${SECRET_KEY}`,
    );
  }
  return secret;
}

/** A secret that a shell or an editor has probably changed: JSON without its quotes, or with too many. */
const LOOKS_LIKE_JSON = new RegExp(`^["'{]|["'}]$|${SECRET_KEY}`);

/**
 * Why a usable secret is probably not the one that somebody meant to store.
 * @returns a log message without the secret; undefined if nothing is unusual
 */
export function secretDoubt(secret: string): string | undefined {
  // trim() also removes a byte order mark.
  if (secret !== secret.trim()) return SECRET_HAS_WHITE_SPACE;
  return LOOKS_LIKE_JSON.test(secret) ? SECRET_LOOKS_LIKE_JSON : undefined;
}

function fromJson(stored: string): unknown {
  try {
    return (JSON.parse(stored.replace(BYTE_ORDER_MARK, '')) as Record<string, unknown>)[SECRET_KEY];
  } catch {
    // A plain secret may begin with a brace.
    return stored;
  }
}
