import { ACCEPTED, IGNORED, PARKED, REJECTED, UNUSABLE } from '../../lambda/log-messages.ts';
import type { RejectionReason } from '../../lambda/metric-names.ts';

/*
 * Filter patterns of CloudWatch Logs for lines of the functions, and parts of such patterns. Commands use them, too, so
 * this file does not load the CDK. Source: CloudWatch Logs user guide, "Filter pattern syntax for metric filters,
 * subscription filters, and filter log events".
 */

/** Part of a pattern: lines with one of these messages. */
export const messageIs = (...messages: readonly string[]): string =>
  messages.map((message) => `$.message = "${message}"`).join(' || ');

export const messagePattern = (...messages: readonly string[]): string => `{ ${messageIs(...messages)} }`;

/**
 * Part of a pattern: Lambda's lines about invocations that failed, timed out or crashed. Sources: Lambda developer
 * guide, "Configuring JSON and plain text log formats"; Lambda telemetry API reference, `platform.report`.
 */
const INVOCATION_FAILURE = '$.type = "platform.report" && $.record.status != "success"';

export const INVOCATION_FAILED = `{ ${INVOCATION_FAILURE} }`;

/**
 * Part of a pattern: Lambda's lines about invocations that failed, and the runtime's lines about errors that ended one.
 */
export const CRASHED = `(${INVOCATION_FAILURE}) || $.message.errorType = "*"`;

/** Lines of the receiver about deliveries with a correct signature, whatever their outcome. */
export const SIGNATURE_RIGHT = messagePattern(ACCEPTED, PARKED, IGNORED, UNUSABLE);

const WRONG: RejectionReason = 'wrong-signature';

/** Lines of the receiver about well-formed but wrong signatures. */
export const SIGNATURE_WRONG = `{ ${messageIs(REJECTED)} && $.reason = "${WRONG}" }`;
