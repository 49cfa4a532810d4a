import { duration, messages, printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { type HeldMessage, noted, reasonOf } from './message.ts';
import { type PayloadFields, payloadFields } from './payload.ts';
import { type AnyQueue, type QueueState, queueState, sourceQueueUrl } from './queue.ts';
import { walk } from './walk.ts';

export interface ShowOptions {
  /** Messages at most. */
  readonly limit: number;
  /** Prints what the partner sent: personal data. */
  readonly payload: boolean;
  readonly json: boolean;
}

/** A message, for programs. Times are in ISO 8601. */
interface ShownMessage extends PayloadFields {
  readonly messageId: string;
  readonly reason: string;
  readonly event?: string | undefined;
  readonly eventId?: string | undefined;
  readonly requestId?: string | undefined;
  /** Undefined if SQS moved it: the note is of an earlier failure. */
  readonly failedAt?: string | undefined;
  readonly receivedAt?: string | undefined;
  readonly sentAt: string;
  readonly keptUntil: string;
  /** From this queue: every look counts. */
  readonly receives: number;
}

/** `show`: why each message of a queue is there. What the partner sent is shown only where asked for. */
export async function show(operation: Operation, queue: AnyQueue, options: ShowOptions): Promise<void> {
  const { stack, signal, say } = operation;
  const state = await queueState(stack.sqs, queue.url);
  const reasons = new Map<string, number>();
  const shown: ShownMessage[] = [];
  const { seen, limited } = await walk(
    stack,
    queue.url,
    { signal, limit: options.limit },
    async (message) => {
      const reason = reasonOf(message, queue);
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      shown.push(await shownMessage(stack, queue, state, message, options));
      return 'kept';
    },
  );

  if (options.json) {
    const { name } = queue;
    const { inFlight } = state;
    say(
      JSON.stringify(
        { stack: stack.title, queue: name, messages: shown, more: limited, inFlight },
        undefined,
        2,
      ),
    );
    return;
  }
  if (seen === 0) {
    say(`Nothing to show: ${emptiness(queue, state)}`);
    return;
  }
  const total = limited ? ` of about ${Math.max(seen, state.visible)}` : '';
  say(`${messages(seen)}${total} on ${queue.title} in ${stack.title}`);
  say('');
  for (const [reason, count] of [...reasons].sort(([, a], [, b]) => b - a)) {
    say(`${String(count).padStart(5)} × ${printable(reason)}`);
  }
  for (const message of shown) for (const line of ['', ...describe(stack, queue, message)]) say(line);
  say('');
  if (limited) say(`There may be more: --limit ${options.limit * 10} shows up to so many.`);
  if (state.inFlight > 0)
    say(`${messages(state.inFlight)} more in flight: somebody else looks at or moves them.`);
  say(
    queue.kind === 'removed'
      ? `Nothing consumes them. Keep a copy: ${stack.command(`export ${queue.name}`)}`
      : `Once the cause is gone: ${stack.command(`redrive ${queue.name}`)}   (single ones: --id <message>)`,
  );
}

/** Why nothing could be received from a queue. */
export function emptiness({ title }: AnyQueue, { inFlight }: QueueState): string {
  if (inFlight === 0) return `${title} is empty`;
  const count = inFlight === 1 ? '1 message is' : `${inFlight} messages are`;
  return `on ${title} ${count} in flight. Somebody looks at or moves them: try again in a minute`;
}

async function shownMessage(
  stack: Stage,
  queue: AnyQueue,
  { retention }: QueueState,
  message: HeldMessage,
  { payload }: ShowOptions,
): Promise<ShownMessage> {
  return {
    messageId: message.id,
    reason: reasonOf(message, queue),
    event: noted(message, 'event'),
    eventId: noted(message, 'eventId'),
    requestId: noted(message, 'requestId'),
    failedAt: message.movedBySqs ? undefined : noted(message, 'failedAt'),
    receivedAt: noted(message, 'receivedAt'),
    sentAt: message.sentAt.toISOString(),
    keptUntil: new Date(message.sentAt.getTime() + retention * 1000).toISOString(),
    receives: message.receives,
    ...(payload && (await payloadFields(stack, queue, message))),
  };
}

function describe(stack: Stage, { kind }: AnyQueue, message: ShownMessage): string[] {
  const { event = '', body, bodyBase64, unreadable } = message;
  const isUnrouted = kind === 'unrouted';
  const facts: [string, string | undefined][] = [
    ['why', message.reason],
    ['event', isUnrouted ? event : undefined],
    ['', isUnrouted && sourceQueueUrl(stack, event) ? 'has a consumer now' : undefined],
    ['failed', moment(message.failedAt)],
    ['delivered', moment(message.receivedAt)],
    ['queued', moment(message.sentAt)],
    ['kept until', expiry(message.keptUntil)],
    ['event id', message.eventId],
    ['request', message.requestId],
    ['received', `${message.receives} × from this queue (every look counts)`],
    ['payload', unreadable === undefined ? (body ?? bodyBase64) : `not readable: ${unreadable}`],
  ];
  return [
    `message ${message.messageId}`,
    ...facts.flatMap(([name, value]) =>
      value === undefined ? [] : [`  ${name.padEnd(10)}  ${printable(value)}`],
    ),
  ];
}

function moment(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : `${text}, ${duration(Date.now() - time)} ago`;
}

function expiry(text: string): string {
  return `${text}, for ${duration(Date.parse(text) - Date.now())} more`;
}
