/**
 * Pattern of every date that exists. The API description has the pattern, too, because JSON Schema can exclude 30
 * February only by a pattern.
 */
const DATE = [
  String.raw`\d{4}-?(?:0[13578]|1[02])-?(?:0[1-9]|[12]\d|3[01])`,
  String.raw`\d{4}-?(?:0[469]|11)-?(?:0[1-9]|[12]\d|30)`,
  String.raw`\d{4}-?02-?(?:0[1-9]|1\d|2[0-8])`,
  String.raw`(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-?02-?29`,
].join('|');

const TIME = String.raw`([01]\d|2[0-3])(?::?([0-5]\d)(?::?([0-5]\d)(?:[.,](\d+))?)?)?`;

/**
 * A moment in UTC, in the extended or basic form (decision D9). Texts that describe it are in `envelope.ts`,
 * `docs/partner.md`, `tools/api/event-schemas.ts` and `tools/check-sender/payload-findings.ts`.
 */
export const UTC_DATE_TIME = new RegExp(`^(${DATE})[Tt ]${TIME}(?:[Zz]|[+-]00(?::?00)?)$`);

/** Digits of the fraction of a second that are kept: nanoseconds, so that events within a millisecond differ. */
const FRACTION_DIGITS = 9;

/**
 * Converts a UTC date-time to a fixed width, in which text order is time order: `20260131T0900+00` →
 * `2026-01-31T09:00:00.000000000Z`.
 * @returns undefined if the text has no form of {@link UTC_DATE_TIME}, or names no real moment
 */
export function normaliseTimestamp(text: string): string | undefined {
  const match = UTC_DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [, date = '', hours = '', minutes = '00', seconds = '00', fraction = ''] = match;
  const digits = date.replaceAll('-', '');
  const day = `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`;
  const nanoseconds = fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, '0');
  return `${day}T${hours}:${minutes}:${seconds}.${nanoseconds}Z`;
}

/** Whether only the time zone is missing. */
export const hasNoZone = (text: string): boolean => UTC_DATE_TIME.test(`${text}Z`);
