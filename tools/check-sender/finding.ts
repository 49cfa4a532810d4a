import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import {
  CLOCK_TOLERANCE,
  ENCODED_BODY_MEGABYTES,
  EVENT_MEGABYTES,
  GATEWAY_TIMEOUT_SECONDS,
} from '../../lambda/limits.ts';
import catalogue from './findings.json' with { type: 'json' };

/** One finding about a request. Contains none of the sent data: no values, and no names that the sender chose. */
export interface Finding {
  readonly grade: Grade;
  /** Identifies the kind of mistake, in counts and for programs: `json-reserialised`. */
  readonly kind: string;
  readonly what: string;
  readonly remedy: string | undefined;
  /** Whether a wrong signature hides it, so that it would be the next mistake. */
  readonly isNext?: boolean;
}

/** The service rejects it or it cannot be intended; it works and there is a reason to change it; nothing to do. */
export type Grade = 'wrong' | 'risky' | 'fine';

/** In `findings.json`: the kind, and after a slash what distinguishes it from others of the same kind. */
export type FindingName = keyof typeof catalogue.findings;

/** Minimum seconds to wait for an answer, as docs/partner.md requires. */
export const ANSWER_WAIT_SECONDS = GATEWAY_TIMEOUT_SECONDS.http + 5;
/** Seconds from a failure to the first repeat, as docs/partner.md requires. */
export const FIRST_WAIT_SECONDS = 10;

const CONSTANTS: Readonly<Record<string, string | number>> = {
  ...catalogue.remedies,
  post: `POST ${WEBHOOK_PATH}`,
  megabytes: EVENT_MEGABYTES,
  encodedMegabytes: ENCODED_BODY_MEGABYTES,
  tolerance: CLOCK_TOLERANCE / 60_000,
  answerWait: ANSWER_WAIT_SECONDS,
  firstWait: FIRST_WAIT_SECONDS,
};

/** A finding in the words of `findings.json`. @param values of its placeholders */
export function finding(name: FindingName, values: Readonly<Record<string, string | number>> = {}): Finding {
  const words: { grade?: string; what: string; remedy?: string } = catalogue.findings[name];
  const { grade = 'wrong', what, remedy } = words;
  const fill = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (place, key: string) => {
      const value = values[key] ?? CONSTANTS[key] ?? place;
      return typeof value === 'number' ? value.toLocaleString('en') : value === place ? place : fill(value);
    });
  const kind = name.replace(/\/.*/, '');
  return { grade: grade as Grade, kind, what: fill(what), remedy: remedy && fill(remedy) };
}
