import { styleText } from 'node:util';
import type { FunctionLogLine } from 'local-aws/invocation';
import type { Exchange } from 'local-aws/observation';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { DEAD_LETTERED } from '../../lambda/log-messages.ts';
import { jsonOf } from '../stage/json.ts';
import { lines } from '../terminal/layout.ts';
import { screenWidth, shownId } from '../terminal/terminal.ts';
import { printable } from '../terminal/text.ts';

/** Keys that a line shows elsewhere, or does not need: the event id also finds the request. */
const OMITTED = new Set([
  ...['timestamp', 'service', 'level', 'message', 'eventId', 'requestId', 'messageId'],
  ...['call', 'error', 'errorMessage', 'stack', 'cause', 'sdkAttempts'],
  ...['cold_start', 'function_request_id', 'xray_trace_id'],
]);

/** Widths of the columns before a line's other fields: function, level, message. */
const SERVICE_WIDTH = Math.max(...eventNames.map((event) => event.length));
const LEVEL_WIDTH = 'ERROR'.length;
const MESSAGE_WIDTH = DEAD_LETTERED.length;

const INDENT = ' '.repeat('00:00:00 '.length);

type LineFields = Readonly<Record<string, unknown>>;

export class LogFormat {
  readonly #stream: NodeJS.WriteStream;
  readonly #width: number;

  /** @param width of the terminal, which shows ids shortened; Infinity if the stream is not a terminal */
  constructor(stream: NodeJS.WriteStream = process.stdout, width = screenWidth(stream)) {
    this.#stream = stream;
    this.#width = width;
  }

  /**
   * A function's log line, with the stack of an error below.
   * @returns undefined for a metric (EMF)
   */
  logLine({ functionName, text, at = Date.now() }: FunctionLogLine): string | undefined {
    const line = crashLine(functionName, Object(jsonOf(text)));
    if ('_aws' in line) return undefined;
    if (line.message === undefined) {
      return this.#line(new Date(at).toISOString(), functionName, '', printable(text));
    }
    const { service, message, eventId, cause } = line;
    const below = [
      ...this.#stack(line),
      ...(isFields(cause) ? [`caused by ${errorText(cause)}`, ...this.#stack(cause)] : []),
    ];
    const words = [
      printable(String(message)).padEnd(MESSAGE_WIDTH),
      typeof eventId === 'string' ? this.#paint('cyan', shownId(eventId, this.#width)) : '',
      errorText(line),
      ...this.#facts(line),
    ].filter((word) => word !== '');
    const first = this.#line(String(line.timestamp), String(service), String(line.level), ...words);
    return [first, ...below].join(`\n${INDENT}`);
  }

  /** An answer of the webhook, in the same columns. */
  request({ method, path, status, durationMilliseconds }: Exchange): string {
    const words = [method, printable(path), `${Math.round(durationMilliseconds)} ms`];
    return this.#line(new Date().toISOString(), 'webhook', String(status), ...words);
  }

  /** @param level of a log line, or the status of an answer */
  #line(timestamp: string, service: string, level: string, ...words: readonly string[]): string {
    const colour = /^(ERROR|5)/.test(level) ? 'red' : /^(WARN|4)/.test(level) ? 'yellow' : 'green';
    const head = `${this.#paint('gray', timestamp.slice(11, 19))} ${service.padEnd(SERVICE_WIDTH)}`;
    const text = [head, this.#paint(colour, level.padEnd(LEVEL_WIDTH)), ...words].join(' ');
    const wrapped = lines(text, this.#width - INDENT.length);
    return wrapped.map((line) => line.trimEnd()).join(`\n${INDENT}`);
  }

  #paint(colour: Parameters<typeof styleText>[0], text: string): string {
    return styleText(colour, text, { stream: this.#stream });
  }

  #facts(line: LineFields): string[] {
    return Object.entries(line).flatMap(([key, value]) => {
      if (OMITTED.has(key) || (key === 'attempt' && value === 1)) return [];
      const text = printable(typeof value === 'string' ? value : JSON.stringify(value));
      if (key !== 'event') return `${this.#paint('gray', `${key}=`)}${text}`;
      return kebabCase(text) === line.service ? [] : text;
    });
  }

  /** Lines with the source positions of an error, innermost call first. */
  #stack({ stack }: LineFields): string[] {
    const frames: readonly unknown[] = Array.isArray(stack) ? stack : [];
    return frames.map((frame) => this.#paint('gray', `at ${printable(String(frame))}`));
  }
}

/** `DynamoDB UpdateItem: connection closed`. Empty if the line has no error. */
const errorText = ({ call, error, errorMessage }: LineFields) =>
  printable([call, error, errorMessage].filter((text) => text !== undefined).join(': '));

const isFields = (value: unknown): value is LineFields => typeof value === 'object' && value !== null;

/**
 * Lambda's line about an invocation that ended with an error, in the format of our own lines. Sources: Lambda telemetry
 * API reference, `platform.report`; aws-lambda-nodejs-runtime-interface-client, `LogPatch.js`, JSON format.
 */
function crashLine(service: string, line: LineFields): LineFields {
  const { type, time: timestamp, record, message } = line;
  if (type === 'platform.report' && isFields(record)) {
    return { service, timestamp, level: 'ERROR', message: record.errorType ?? record.status };
  }
  if (!isFields(message)) return line;
  const { errorType, stackTrace } = message;
  const errorMessage = String(message.errorMessage).replace(/^RequestId: [0-9a-f-]{36} Error: /, '');
  const frames: readonly unknown[] = Array.isArray(stackTrace) ? stackTrace : [];
  // A stack begins with name and message of the error.
  const stack = frames.flatMap((frame) => /^\s+at (.*)$/.exec(String(frame))?.[1] ?? []);
  return { service, ...line, message: errorType, errorMessage, stack };
}
