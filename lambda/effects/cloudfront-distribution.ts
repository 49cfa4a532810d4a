import { CloudFrontClient, CreateInvalidationCommand } from '@aws-sdk/client-cloudfront';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';

/**
 * A CloudFront distribution that caches shop pages. Imported on demand, because most stacks have none and its client is
 * large.
 */
export class CloudFrontDistribution {
  readonly #client = new CloudFrontClient(clientSettings);
  readonly #variables = requireEnvironment(['DISTRIBUTION_ID', 'INVALIDATION_PATHS']);
  /** The synthesis has checked the paths. */
  readonly #patterns: readonly string[] = JSON.parse(this.#variables.INVALIDATION_PATHS);

  /**
   * Invalidates a shop.
   * @param reference of the event, or of its repair. A repeat with the same reference is done and paid for only once
   * @throws the client's error. None is permanent: `TooManyInvalidationsInProgress` and throttles pass with time.
   * `NoSuchDistribution`, `AccessDenied` and `InvalidArgument` are mistakes of the stack, which the next deployment may
   * fix, so the event must not become a dead letter at once
   */
  async invalidate(shopId: string, reference: string): Promise<void> {
    const paths = invalidationPaths(this.#patterns, shopId);
    try {
      await this.#client.send(
        new CreateInvalidationCommand({
          DistributionId: this.#variables.DISTRIBUTION_ID,
          InvalidationBatch: {
            CallerReference: reference,
            Paths: { Quantity: paths.length, Items: paths },
          },
        }),
      );
    } catch (error) {
      // An earlier attempt with this event invalidated other paths, because the patterns have changed since. CloudFront
      // has fetched the shop again since then.
      if (error instanceof Error && error.name === 'InvalidationBatchAlreadyExists') return;
      throw error;
    }
  }
}

const SHOP_ID = '{shop_id}';

/** Longest path, in characters. Source: CloudFront developer guide, "What you need to know when invalidating paths". */
const MAX_PATH_LENGTH = 4000;

/**
 * Escapes of `$&+,:;=@`, which a path need not escape, unlike what RFC 1738 calls unsafe. Source: RFC 3986, `pchar`.
 */
const OPTIONAL_ESCAPES = /%(?:24|26|2B|2C|3A|3B|3D|40)/g;

/**
 * The paths to invalidate for a shop: the patterns with the shop's percent-encoded id. CloudFront finds a page only in
 * the form in which it was requested, and pages with characters such as `:` are requested in two forms, so both are
 * covered (source: as {@link MAX_PATH_LENGTH}, on characters that are not ASCII or are unsafe).
 *
 * If CloudFront would reject or misread the rest of a path, a wildcard replaces it, which also covers similar paths.
 * This concerns paths longer than {@link MAX_PATH_LENGTH}, asterisks (wildcards, allowed only as the last character)
 * and tildes (rejected, and when encoded they do not match the request; https://github.com/aws/aws-sdk/issues/525).
 * @param shopId well-formed Unicode
 */
export function invalidationPaths(patterns: readonly string[], shopId: string): string[] {
  const encoded = encodeURIComponent(shopId);
  const forms = [encoded, encoded.replace(OPTIONAL_ESCAPES, decodeURIComponent)];
  const paths = patterns.flatMap((pattern) =>
    forms.map((form) => covering(pattern.replaceAll(SHOP_ID, () => form))),
  );
  return [...new Set(paths)];
}

function covering(path: string): string {
  const literal = path.replace(/[*~].*$/, '');
  if (literal === path && path.length <= MAX_PATH_LENGTH) return path;
  // An escape must not be cut in two.
  return `${literal.slice(0, MAX_PATH_LENGTH - 1).replace(/%.?$/, '')}*`;
}
