import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { kindOf, parseTraceId } from '../history/trace-id.ts';
import type { FollowedLine } from './follow.ts';

/** Which lines of deliveries are wanted. */
export interface DeliveryFilter {
  readonly events?: readonly EventName[] | undefined;
  /** Of an event, a request or a message, or its beginning. */
  readonly id?: string | undefined;
}

/** What Lambda itself writes in the JSON format. Source: Lambda telemetry API reference. */
const isOfPlatform = ({ type }: Readonly<Record<string, unknown>>) => String(type).startsWith('platform.');

/** What it writes of an invocation that did not end well, once of each. */
const isOfDeath = ({ type, record }: Readonly<Record<string, unknown>>) =>
  type === 'platform.report' && record instanceof Object && 'status' in record && record.status !== 'success';

/** What the runtime writes of an error that ended an invocation: its message is an object. */
const isOfRuntime = ({ message }: Readonly<Record<string, unknown>>) => message instanceof Object;

/** What Lambda itself writes of each invocation, in the text format. Source: Lambda developer guide, "Log formats". */
const PLATFORM = /^(INIT_START|START|END|REPORT|EXTENSION|TELEMETRY|XRAY) /;

/**
 * Tells the lines that are about deliveries, and about the wanted ones. A line that is no JSON, such as of a time-out,
 * is about whatever its function was doing.
 * @throws CommandError if no line can have such an id
 */
export function deliveryFilter({ events, id }: DeliveryFilter): (line: FollowedLine) => boolean {
  const wanted = id === undefined ? undefined : parseTraceId(id);
  if (wanted !== undefined && wanted.prefix === undefined) {
    throw new CommandError(
      `No log line can have the id '${id}': give at least 8 characters of an event, request or message id`,
    );
  }
  /** Of a line that says of no delivery that it is about it. */
  const isOfWork = (name: string, text: string) =>
    wanted === undefined ? events === undefined || name !== 'receiver' : text.includes(wanted.text);
  return ({ function: name, text }) => {
    const line = parse(text);
    if (line === undefined) {
      return !PLATFORM.test(text) && isOfWork(name, text);
    }
    // Metrics.
    if ('_aws' in line) return false;
    if (isOfPlatform(line) && !isOfDeath(line)) return false;
    if (isOfPlatform(line) || isOfRuntime(line)) return isOfWork(name, text);
    const isOfEvent = events?.some((event) => event === line.event) ?? true;
    const isOfId = wanted === undefined || kindOf(wanted, idsOf(line)) !== undefined;
    return isOfEvent && isOfId;
  };
}

function idsOf(line: Readonly<Record<string, unknown>>) {
  const ids = [line.eventId, line.requestId, line.messageId];
  const [eventId, requestId, messageId] = ids.map((id) => (typeof id === 'string' ? id : undefined));
  return { eventId, requestId, messageId };
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
