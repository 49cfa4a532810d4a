/** Stands for the shop's id in a pattern. */
const SHOP_ID = '{shop_id}';

/** Longest path, in characters. Source: CloudFront developer guide, "What you need to know when invalidating paths". */
const MAXIMUM_PATH_LENGTH = 4000;

/** Paths begin with a slash and are ASCII; whatever else must be percent-encoded (same source). */
const PATTERN = /^\/[!-~]*$/;

/**
 * Reads the paths to invalidate from configuration: a JSON array such as
 * `["/shops/{shop_id}", "/shops/{shop_id}/*"]`.
 * @throws Error where it is anything else
 */
export function readPathPatterns(json: string): readonly string[] {
  const patterns = parse(json);
  if (Array.isArray(patterns) && patterns.length > 0 && patterns.every(isPattern)) return patterns;
  throw new Error(
    `INVALIDATION_PATHS must be a JSON array of paths, such as ["/shops/${SHOP_ID}"]: each begins with / and is percent-encoded`,
  );
}

/**
 * The paths that CloudFront must forget for a shop: the patterns with its id, percent-encoded.
 *
 * What CloudFront would refuse or misread ends in a wildcard where the trouble begins, which covers it and
 * its neighbours: a path above {@link MAXIMUM_PATH_LENGTH}; an asterisk, which is a wildcard and may only
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
  if (literal === path && path.length <= MAXIMUM_PATH_LENGTH) return path;
  // An escape must not be cut in two.
  return `${literal.slice(0, MAXIMUM_PATH_LENGTH - 1).replace(/%.?$/, '')}*`;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const isPattern = (value: unknown) =>
  typeof value === 'string' && PATTERN.test(value) && value.length <= MAXIMUM_PATH_LENGTH;
