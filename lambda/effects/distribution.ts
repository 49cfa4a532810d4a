import { CloudFrontClient, CreateInvalidationCommand } from '@aws-sdk/client-cloudfront';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';

/**
 * A CloudFront distribution that caches pages of shops. Imported on demand: most stacks have none, and its client is large.
 */
export class Distribution {
  readonly #client = new CloudFrontClient(clientSettings);
  readonly #id: string;
  readonly #patterns: readonly string[];

  /** @throws Error if a variable is missing or INVALIDATION_PATHS is not what it must be */
  constructor() {
    const { DISTRIBUTION_ID, INVALIDATION_PATHS } = requireEnvironment([
      'DISTRIBUTION_ID',
      'INVALIDATION_PATHS',
    ]);
    this.#id = DISTRIBUTION_ID;
    this.#patterns = readPathPatterns(INVALIDATION_PATHS);
  }

  /**
   * Invalidates a shop.
   * @param reference of the event, or of the repair by one. Repeated, it is the same invalidation, done and paid for once.
   * @throws the client's error. All of them may pass: `TooManyInvalidationsInProgress` and throttles with time;
   *   `NoSuchDistribution`, `AccessDenied` and `InvalidArgument` with the next deployment, as they are mistakes of the
   *   stack and not of the event, which must not become a dead letter at once for them
   */
  async invalidate(shopId: string, reference: string): Promise<void> {
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
      // The event comes again after the patterns have changed. CloudFront has fetched the shop anew since.
      if (error instanceof Error && error.name === 'InvalidationBatchAlreadyExists') return;
      throw error;
    }
  }
}

const SHOP_ID = '{shop_id}';

/** Longest path, in characters. Source: CloudFront developer guide, "What you need to know when invalidating paths". */
const MAX_PATH_LENGTH = 4000;

/** Paths begin with a slash and are ASCII; whatever else must be percent-encoded (same source). */
const PATTERN = /^\/[!-~]*$/;

/**
 * Reads the paths to invalidate from configuration: a JSON array such as
 * `["/shops/{shop_id}", "/shops/{shop_id}/*"]`.
 * @throws Error if it is anything else
 */
export function readPathPatterns(json: string): readonly string[] {
  const patterns = parse(json);
  if (Array.isArray(patterns) && patterns.length > 0 && patterns.every(isPattern)) return patterns;
  throw new Error(
    `INVALIDATION_PATHS must be a JSON array of paths, such as ["/shops/${SHOP_ID}"]: each begins with / and is percent-encoded`,
  );
}

/**
 * The paths to invalidate for a shop: the patterns with its id, percent-encoded.
 *
 * What CloudFront would refuse or misread is replaced by a wildcard from there on, which covers it and its neighbours: a path above {@link MAX_PATH_LENGTH}; an asterisk, which is a wildcard and may only
 * be the last character; a tilde, which is refused as it is, and encoded would not match the request
 * (https://github.com/aws/aws-sdk/issues/525).
 * @param shopId well-formed Unicode
 */
export function invalidationPaths(patterns: readonly string[], shopId: string): string[] {
  const paths = patterns.map((pattern) =>
    covering(pattern.replaceAll(SHOP_ID, () => encodeURIComponent(shopId))),
  );
  return [...new Set(paths)];
}

function covering(path: string): string {
  const literal = path.replace(/[*~].*$/, '');
  if (literal === path && path.length <= MAX_PATH_LENGTH) return path;
  // An escape must not be cut in two.
  return `${literal.slice(0, MAX_PATH_LENGTH - 1).replace(/%.?$/, '')}*`;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const isPattern = (value: unknown) =>
  typeof value === 'string' && PATTERN.test(value) && value.length <= MAX_PATH_LENGTH;
