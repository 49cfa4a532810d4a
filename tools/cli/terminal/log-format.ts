import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { DEAD_LETTERED } from '../../../lambda/log-messages.ts';
import type { FunctionLogLine } from '../../../local/functions/invocation.ts';
import type { RequestSummary } from '../../../local/gateway/server.ts';
import { screenWidth, shownId } from './terminal.ts';
import { printable } from './text.ts';

/**
 * Keys of a structured log line that a local developer does not need, or that repeat the line: the event's id also
 * identifies the request and the message. `npm start -- --json` shows all.
 */
const OMITTED = new Set([
  'level',
  'message',
  'timestamp',
  'service',
  'call',
  'error',
  'errorMessage',
  'stack',
  'cause',
  'sdkAttempts',
  'eventId',
  'requestId',
  'messageId',
  'cold_start',
  'function_request_id',
  'xray_trace_id',
]);

/** Widths of the columns before a line's facts: function, level, message. */
const SERVICE_WIDTH = Math.max(...eventNames.map((event) => event.length));
const LEVEL_WIDTH = 'ERROR'.length;
const MESSAGE_WIDTH = DEAD_LETTERED.length;

/** Maximum number of different stacks remembered: some kilobytes each. */
const MAX_STACKS = 100;

/** Milliseconds after which an equal stack is shown again, because the first one has scrolled away. */
const STACK_SHOWN_AGAIN = 60_000;

const INDENT = ' '.repeat('00:00:00 '.length);

type Colour = Parameters<typeof styleText>[0];

const LEVEL_COLOURS: Readonly<Record<string, Colour>> = {
  DEBUG: 'gray',
  INFO: 'green',
  WARN: 'yellow',
  ERROR: 'red',
  CRITICAL: 'red',
};

export class LogFormat {
  readonly #stream: NodeJS.WriteStream;
  readonly #width: number;
  /** When each stack was last shown, and how often it has occurred since. */
  readonly #stacks = new Map<string, { readonly shownAt: number; times: number }>();

  /**
   * @param stream the output: colours are used only if it supports them
   * @param width of the terminal, which shows ids shortened; Infinity if it is not a terminal
   */
  constructor(stream: NodeJS.WriteStream = process.stdout, width = screenWidth(stream)) {
    this.#stream = stream;
    this.#width = width;
  }

  /**
   * A function's log line: time, function, level and message in columns, then the event's id, the error and the facts.
   * The stack of an error is below.
   * @returns undefined for a metric (EMF)
   */
  logLine({ functionName, text, at = Date.now() }: FunctionLogLine): string | undefined {
    const line = whatEndedIt(functionName, parseObject(text));
    if (line?.message === undefined) {
      if (line !== undefined && '_aws' in line) return undefined;
      const head = this.#head(new Date(at).toISOString(), functionName, '');
      return [...head, printable(text)].join(' ').trimEnd();
    }
    const { timestamp, service, level, message, eventId } = line;
    const cause = isObject(line.cause) ? line.cause : undefined;
    const causedBy = cause === undefined ? [] : [`${INDENT}caused by ${errorWords(cause)}`];
    const stack = [...this.#framesOf(line), ...causedBy, ...this.#framesOf(cause)];
    const times = stack.length > causedBy.length ? this.#count(stack, at) : 1;
    const words = [
      ...this.#head(String(timestamp), String(service), String(level), LEVEL_COLOURS[String(level)]),
      printable(String(message)).padEnd(MESSAGE_WIDTH),
      ...(typeof eventId === 'string' ? [this.#paint('cyan', shownId(eventId, this.#width))] : []),
      ...[errorWords(line)].filter((text) => text !== ''),
      ...this.#factsOf(line),
      ...(times > 1 ? [this.#paint('gray', `(the same stack, ${times} times)`)] : []),
    ];
    return [...wrap(words, this.#width), ...(times > 1 ? causedBy : stack)].join('\n');
  }

  /** An answer of the webhook, in the same columns. */
  request({ method, path, status, durationMilliseconds }: RequestSummary): string {
    const colour = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
    const head = this.#head(new Date().toISOString(), 'webhook', String(status), colour);
    const words = [...head, method, printable(path), `${Math.round(durationMilliseconds)} ms`];
    return wrap(words, this.#width).join('\n');
  }

  #paint(colour: Colour, text: string): string {
    return styleText(colour, text, { stream: this.#stream });
  }

  #head(timestamp: string, service: string, level: string, colour: Colour = 'gray'): string[] {
    return [
      this.#paint('gray', timestamp.slice(11, 19)),
      service.padEnd(SERVICE_WIDTH),
      this.#paint(colour, level.padEnd(LEVEL_WIDTH)),
    ];
  }

  #factsOf(line: Readonly<Record<string, unknown>>): string[] {
    return Object.entries(line)
      .filter(([key, value]) => {
        if (key === 'event') return kebabCase(String(value)) !== line.service;
        return !OMITTED.has(key) && !(key === 'attempt' && value === 1);
      })
      .map(([key, value]) => {
        const text = printable(typeof value === 'string' ? value : JSON.stringify(value));
        return key === 'event' ? text : `${this.#paint('gray', `${key}=`)}${text}`;
      });
  }

  /** The positions in the source that an error comes from. */
  #framesOf({ stack }: Readonly<Record<string, unknown>> = {}): string[] {
    if (!Array.isArray(stack)) return [];
    return stack.map((frame) => this.#paint('gray', `${INDENT}at ${printable(String(frame))}`));
  }

  /** @returns how often this stack has occurred since it was shown; 1 if it must be shown */
  #count(stack: readonly string[], at: number): number {
    const key = stack.join('\n');
    const before = this.#stacks.get(key);
    const isRecent = before !== undefined && at - before.shownAt < STACK_SHOWN_AGAIN;
    const counted = isRecent ? before : { shownAt: at, times: 0 };
    counted.times += 1;
    // Moves the stack to the end of the map. The first entry is the one to forget.
    this.#stacks.delete(key);
    this.#stacks.set(key, counted);
    const [oldest] = this.#stacks.keys();
    if (this.#stacks.size > MAX_STACKS && oldest !== undefined) this.#stacks.delete(oldest);
    return counted.times;
  }
}

/** Text such as `DynamoDB UpdateItem: connection closed`. Empty if there is no error. */
function errorWords({ call, error, errorMessage }: Readonly<Record<string, unknown>>): string {
  return printable([call, error, errorMessage].filter((text) => text !== undefined).join(': '));
}

/** A line as JSON. A line that is not JSON, such as those of the runtime, becomes a text property. */
export const asJson = ({ functionName, text }: FunctionLogLine) =>
  text.startsWith('{') ? text : JSON.stringify({ functionName, text });

/** Wraps words to a width. A longer word stays whole. */
function wrap(words: readonly string[], width: number): string[] {
  if (width === Number.POSITIVE_INFINITY) return [words.join(' ').trimEnd()];
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && stringWidth(line) + 1 + stringWidth(word.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = `${INDENT}${word}`;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line.trimEnd()];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/**
 * Converts Lambda's line about an invocation that ended with an error to our format. Sources:
 * aws-lambda-nodejs-runtime-interface-client, `LogPatch.js`, JSON format; Lambda telemetry API reference,
 * `platform.report`.
 */
function whatEndedIt(
  service: string,
  line: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (isObject(line?.message)) {
    const { errorType, stackTrace } = line.message;
    const frames = Array.isArray(stackTrace) ? stackTrace.flatMap(frameOf) : [];
    const errorMessage = String(line.message.errorMessage).replace(/^RequestId: [0-9a-f-]{36} Error: /, '');
    return { service, ...line, message: errorType, errorMessage, stack: frames };
  }
  if (line?.type === 'platform.report' && isObject(line.record)) {
    const { status, errorType = status } = line.record;
    return { service, timestamp: line.time, level: 'ERROR', message: errorType };
  }
  return line;
}

/** A stack begins with name and message of the error. */
function frameOf(stackLine: unknown): string[] {
  const [, frame] = /^\s+at (.*)$/.exec(String(stackLine)) ?? [];
  return frame === undefined ? [] : [frame];
}
