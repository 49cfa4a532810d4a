/**
 * RFC 3339's profile of ISO 8601 in UTC (decision D9): `Z` or `+00:00`, fraction optional. Texts that describe it are in
 * `envelope.ts`, `docs/partner.md`, `tools/partner/api/event-schemas.ts` and `tools/partner/check-sender/payload-findings.ts`.
 */
export const UTC_DATE_TIME = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d+))?(?:Z|\+00:00)$/;

/** Digits kept of the fraction of a second: nanoseconds, so that two events of one millisecond stay apart. */
const FRACTION_DIGITS = 9;

/**
 * Brings a UTC date-time to one fixed width, in which the order of the texts is the order in time:
 * `2026-01-31T09:00:00+00:00` → `2026-01-31T09:00:00.000000000Z`.
 * @returns undefined if the text is not an ISO 8601 date-time in UTC, or names no real moment
 */
export function normaliseTimestamp(text: string): string | undefined {
  const match = UTC_DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [, seconds = '', fraction = ''] = match;
  const milliseconds = Date.parse(`${seconds}Z`);
  // `Date.parse` takes 30 February and 24:00:00 for moments of the following day.
  if (Number.isNaN(milliseconds) || !new Date(milliseconds).toISOString().startsWith(seconds))
    return undefined;
  return `${seconds}.${fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, '0')}Z`;
}
