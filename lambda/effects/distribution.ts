import { CloudFrontClient, CreateInvalidationCommand } from '@aws-sdk/client-cloudfront';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { invalidationPaths, readPathPatterns } from './invalidation-paths.ts';

export interface ShopInvalidation {
  readonly shopId: string;
  /** Of what calls for it: an event, or a repair by one. Repeated, it is the same invalidation. */
  readonly reference: string;
}

/**
 * A CloudFront distribution that caches what is made of shops. Imported on demand: most stacks have none,
 * and its client is large.
 */
export class Distribution {
  readonly #client: CloudFrontClient;
  readonly #id: string;
  readonly #patterns: readonly string[];

  /** @param patterns as of `readPathPatterns` */
  constructor(client: CloudFrontClient, id: string, patterns: readonly string[]) {
    this.#client = client;
    this.#id = id;
    this.#patterns = patterns;
  }

  /** @throws Error where a variable is missing or INVALIDATION_PATHS is not what it must be */
  static fromEnvironment(): Distribution {
    const { DISTRIBUTION_ID, INVALIDATION_PATHS } = requireEnvironment([
      'DISTRIBUTION_ID',
      'INVALIDATION_PATHS',
    ]);
    return new Distribution(
      new CloudFrontClient(clientSettings),
      DISTRIBUTION_ID,
      readPathPatterns(INVALIDATION_PATHS),
    );
  }

  /**
   * Has CloudFront forget a shop. Where the same reference did so before, nothing more is done, or paid for.
   * @throws the client's error. All of them may pass: `TooManyInvalidationsInProgress` and throttles with
   *   time; `NoSuchDistribution`, `AccessDenied` and `InvalidArgument` with the next deployment, as they are
   *   mistakes of the stack and not of the event, which must not become a dead letter at once for them
   */
  async invalidate({ shopId, reference }: ShopInvalidation): Promise<void> {
    const paths = invalidationPaths(this.#patterns, shopId);
    try {
      await this.#client.send(
        new CreateInvalidationCommand({
          DistributionId: this.#id,
          InvalidationBatch: {
            CallerReference: reference,
            Paths: { Quantity: paths.length, Items: paths },
          },
        }),
      );
    } catch (error) {
      if (!wasDoneForOtherPaths(error)) throw error;
    }
  }
}

/** The event comes again after the patterns have changed. CloudFront has fetched the shop anew since. */
function wasDoneForOtherPaths(error: unknown): boolean {
  return error instanceof Error && error.name === 'InvalidationBatchAlreadyExists';
}
