import type { EventName } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import type { FunctionLogLine } from '../../local/functions/invocation.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { jsonObject, printable } from '../../terminal/text.ts';
import { kindOf, parseTraceId } from '../history/trace-id.ts';
import { NOT_RUNNING } from '../local-folder.ts';
import type { Operation } from '../operation.ts';
import { forPeople } from '../operation.ts';
import { type FollowedLine, followLogs } from './follow-logs.ts';
import { asJson, LogFormat } from './log-format.ts';

/** Selects log lines of deliveries. */
interface LineFilter {
  readonly events?: readonly EventName[] | undefined;
  /** The id of an event, a request or a message, or its beginning. */
  readonly id?: string | undefined;
}

/**
 * Prints matching lines as they are written, until it is interrupted.
 * @throws CommandError if no line can have such an id
 */
export async function tail(
  { stack, signal, printLine, width }: Operation,
  { events, id, since = new Date(), json }: LineFilter & { since: Date | undefined; json: boolean },
): Promise<void> {
  const isWanted = deliveryFilter({ events, id });
  const format = new LogFormat(process.stdout, width);
  /** The same problem of several functions is printed once, until lines come again. */
  let lastProblem: string | undefined;
  console.error(`Following ${stack.title}. Ctrl-C ends it.`);
  const following = followLogs(stack, {
    functions: events && ['receiver', ...events],
    since,
    signal,
    onProblem: (name, error) => {
      const known = forPeople(error, stack.local);
      const why = known instanceof Error ? known.message : String(known);
      const text = why === NOT_RUNNING ? why : `${name}: ${why}`;
      if (text !== lastProblem) console.error(`Problem: ${printable(text)}`);
      lastProblem = text;
    },
  });
  for await (const lines of following) {
    lastProblem = undefined;
    for (const { function: name, at, text } of lines.filter(isWanted)) {
      const line: FunctionLogLine = { functionName: kebabCase(name), at, stream: 'stdout', text };
      const shown = json ? asJson(line) : format.logLine(line);
      if (shown !== undefined) printLine(shown);
    }
  }
}

/** Whether Lambda itself wrote a line, in JSON format. Source: Lambda telemetry API reference. */
const isOfPlatform = ({ type }: Readonly<Record<string, unknown>>) => String(type).startsWith('platform.');

/** Whether Lambda itself wrote a line about an invocation that failed. There is one for each. */
const isInvocationFailure = ({ type, record }: Readonly<Record<string, unknown>>) =>
  type === 'platform.report' && record instanceof Object && 'status' in record && record.status !== 'success';

/** Whether the runtime wrote a line about an error that ended an invocation: its message is an object. */
const isOfRuntime = ({ message }: Readonly<Record<string, unknown>>) => message instanceof Object;

/** Matches Lambda's own lines about each invocation, in text format. Source: Lambda developer guide, "Log formats". */
const PLATFORM = /^(INIT_START|START|END|REPORT|EXTENSION|TELEMETRY|XRAY) /;

/**
 * Matches lines about the selected deliveries. A line that is not JSON, such as a timeout, belongs to the delivery that
 * its function was working on.
 * @throws CommandError if no line can have such an id
 */
export function deliveryFilter({ events, id }: LineFilter): (line: FollowedLine) => boolean {
  const wanted = id === undefined ? undefined : parseTraceId(id);
  if (wanted !== undefined && wanted.prefix === undefined) {
    throw new CommandError(
      `No log line can have the id '${id}': give at least 8 characters of an event, request or message id`,
    );
  }
  /** Whether a line that names no delivery is about work on a delivery. */
  const isOfWork = (name: string, text: string) =>
    wanted === undefined ? events === undefined || name !== 'receiver' : text.includes(wanted.text);
  return ({ function: name, text }) => {
    const line = jsonObject(text);
    if (line === undefined) return !PLATFORM.test(text) && isOfWork(name, text);
    // Metrics in CloudWatch's embedded metric format are not for people.
    if ('_aws' in line) return false;
    if (isOfPlatform(line) && !isInvocationFailure(line)) return false;
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
