import { errorOf, type LogLine } from './log-line.ts';
import type { Answered } from './timeline.ts';

/** How the receiver ends a request. */
const ENDS = ['Accepted', 'Parked', 'Unusable', 'Rejected', 'ServerError'];

/** A request that brought the event. */
export interface Request {
  readonly requestId: string;
  /** The line of its answer; undefined where the log does not have it. */
  readonly end: LogLine | undefined;
}

export const endsRequest = ({ message }: LogLine) => ENDS.includes(message);

/** @param lines in order of time */
export function requestsOf(lines: readonly LogLine[]): Request[] {
  const byId = Map.groupBy(
    lines.filter(({ requestId, messageId }) => requestId !== undefined && messageId === undefined),
    ({ requestId = '' }) => requestId,
  );
  return [...byId].map(([requestId, ofRequest]) => ({ requestId, end: ofRequest.findLast(endsRequest) }));
}

/** Where the receiver put what it got; undefined where it kept nothing. */
export function queueOf({ message, event }: LogLine): string | undefined {
  switch (message) {
    case 'Accepted':
      return event;
    case 'Parked':
      return 'unrouted';
    case 'Unusable':
      return 'quarantine';
    default:
      return undefined;
  }
}

/** What it answered. @param end the request's */
export function answerOf(requestId: string, end: LogLine): Answered {
  const step = { what: 'answered' as const, at: new Date(end.at).toISOString(), requestId };
  const { message, fields, reason, sourceIp } = end;
  switch (message) {
    case 'Unusable':
      return { ...step, status: 400, ...(fields && { fields }) };
    case 'Rejected':
      return { ...step, status: 401, ...(reason && { reason }), ...(sourceIp && { sourceIp }) };
    case 'ServerError':
      return { ...step, status: 500, error: errorOf(end) };
    default:
      return { ...step, status: 200 };
  }
}
