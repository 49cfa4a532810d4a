import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import {
  CLOCK_TOLERANCE,
  ENCODED_BODY_MEGABYTES,
  EVENT_MEGABYTES,
  GATEWAY_TIMEOUT_SECONDS,
} from '../../lambda/limits.ts';
import catalogue from './findings.json' with { type: 'json' };

/** One finding about a request. Contains no sent data: neither values nor names that the sender chose. */
export interface Finding {
  readonly grade: Grade;
  /** Id of the kind of mistake, for counts and for programs: `json-reserialised`. */
  readonly kind: string;
  readonly what: string;
  readonly remedy: string | undefined;
  /** Whether the mistake is hidden by a wrong signature, so that it is the next one to fix. */
  readonly isNext?: boolean;
}

/**
 * `wrong`: the service rejects the request, or the sender cannot have intended it. `risky`: the request works, but
 * should be changed. `fine`: nothing to do.
 */
export type Grade = 'wrong' | 'risky' | 'fine';

/** Name of a finding in `findings.json`: its kind, and after a slash the variant. */
export type FindingName = keyof typeof catalogue.findings;

/** Minimum seconds that a sender must wait for an answer. Source: docs/partner.md. */
export const ANSWER_WAIT_SECONDS = GATEWAY_TIMEOUT_SECONDS + 6;
/** Seconds from a failure to the first retry. Source: docs/partner.md. */
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

/**
 * Makes a finding from its text in `findings.json`.
 * @param values for the placeholders of the text
 */
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
