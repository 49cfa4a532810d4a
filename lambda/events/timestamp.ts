/**
 * RFC 3339's profile of ISO 8601 in UTC (decision D9): `Z` or `+00:00`, fraction optional. Texts that describe it are in
 * `envelope.ts`, `docs/partner.md`, `tools/partner/api/event-schemas.ts` and `tools/partner/check-sender/payload-findings.ts`.
 */
export const UTC_DATE_TIME = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d+))?(?:Z|\+00:00)$/;

/** Digits of the fraction of a second that are kept: nanoseconds, so that events within a millisecond differ. */
const FRACTION_DIGITS = 9;

/**
 * Converts a UTC date-time to a fixed width, in which text order is time order: `2026-01-31T09:00:00+00:00` →
 * `2026-01-31T09:00:00.000000000Z`.
 * @returns undefined if the text is not an ISO 8601 date-time in UTC, or names no real moment
 */
export function normaliseTimestamp(text: string): string | undefined {
  const match = UTC_DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [, seconds = '', fraction = ''] = match;
  const milliseconds = Date.parse(`${seconds}Z`);
  // `Date.parse` reads 30 February and 24:00:00 as moments of the next day.
  if (Number.isNaN(milliseconds) || !new Date(milliseconds).toISOString().startsWith(seconds))
    return undefined;
  return `${seconds}.${fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, '0')}Z`;
}
