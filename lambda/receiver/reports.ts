import { describeError, isOutage } from '../errors.ts';
import {
  ACCEPTED,
  CACHED_SECRET_USED,
  type IGNORED,
  type PARKED,
  REJECTED,
  SERVER_ERROR,
  SMOKE_TEST,
  type UNUSABLE,
} from '../log-messages.ts';
import type { RejectionReason } from '../metric-names.ts';
import { count, log } from '../telemetry.ts';
import { UnusableSecretError } from './secret-value.ts';
import type { SecretReports } from './webhook-secrets.ts';

/** The ids in each log line of a request. */
export interface RequestIds {
  readonly requestId: string;
  eventId?: string;
}

/** The outcome of a request. Each is the message of a log line, and some are also a metric. */
export type DeliveryOutcome =
  | { readonly outcome: typeof ACCEPTED; readonly event: string; readonly lagMs: number }
  | { readonly outcome: typeof PARKED | typeof IGNORED }
  | { readonly outcome: typeof UNUSABLE; readonly fields: readonly string[] }
  | { readonly outcome: typeof REJECTED; readonly reason: RejectionReason; readonly sourceIp: string };

/** What is logged and counted about a request. */
export interface RequestReports extends SecretReports {
  outcome(outcome: DeliveryOutcome): void;
  /** The cause of a 500: the event is not stored. */
  error(error: unknown): void;
}

export type ReportsOf = (ids: RequestIds) => RequestReports;

/** The number of the published version. */
const version = process.env.AWS_LAMBDA_FUNCTION_VERSION ?? '';

export const deliveryReports: ReportsOf = (ids) => ({
  ...logReports(ids),
  outcome({ outcome, ...fields }) {
    log[outcome === REJECTED ? 'warn' : 'info'](outcome, { ...ids, ...fields });
    if (outcome !== ACCEPTED) count(outcome, 'reason' in fields ? { reason: fields.reason } : {});
  },
  error(error) {
    logReports(ids).error(error);
    count(SERVER_ERROR);
    // Somebody stored an unusable secret: then every version fails, as in an outage.
    const isOfVersion = !isOutage(error) && !(error instanceof UnusableSecretError);
    if (isOfVersion) count('VersionError', { version });
  },
  unreadable: () => count('SecretUnreadable'),
});

/**
 * Probes of the smoke test are not counted, and have a log message that no alarm matches. Their lines have no event id:
 * a line with an event id is part of the history of a delivery.
 */
export const probeReports: ReportsOf = ({ requestId }) => ({
  ...logReports({ requestId }),
  outcome: (fields) => log.info(SMOKE_TEST, { requestId, ...fields }),
  unreadable() {},
});

const logReports = (ids: RequestIds) => ({
  error: (error: unknown) => log.error(SERVER_ERROR, { ...ids, ...describeError(error) }),
  stale: (error: unknown) => log.warn(CACHED_SECRET_USED, { ...ids, ...describeError(error) }),
  doubt: (doubt: string) => log.warn(doubt, { ...ids }),
});
