import { duration, messages, printable } from '../../terminal/text.ts';
import { type HeldMessage, noted, reasonOf } from './message.ts';
import type { Operation } from './operation.ts';
import { readPayload, UnreadablePayloadError } from './payload.ts';
import { type AnyQueue, type QueueState, queueState, sourceQueueUrl } from './queue.ts';
import { walk } from './walk.ts';

interface ShowOptions {
  /** Messages at most. */
  readonly limit: number;
  /** Prints what the partner sent: personal data. */
  readonly payload: boolean;
}

/** `show`: why each message of a queue is there. What the partner sent is shown only where asked for. */
export async function show(operation: Operation, queue: AnyQueue, options: ShowOptions): Promise<void> {
  const { stack, signal, say } = operation;
  const state = await queueState(stack.sqs, queue.url);
  const reasons = new Map<string, number>();
  const blocks: string[][] = [];
  const { seen, limited } = await walk(
    stack,
    queue.url,
    { signal, limit: options.limit },
    async (message) => {
      const reason = reasonOf(message, queue);
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      blocks.push(await describe(operation, queue, state, message, options));
      return 'kept';
    },
  );

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
  for (const lines of blocks) for (const line of ['', ...lines]) say(line);
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

async function describe(
  { stack }: Operation,
  queue: AnyQueue,
  { retention }: QueueState,
  message: HeldMessage,
  options: ShowOptions,
): Promise<string[]> {
  const event = noted(message, 'event') ?? '';
  const facts: [string, string | undefined][] = [
    ['why', reasonOf(message, queue)],
    ['event', queue.kind === 'unrouted' ? event : undefined],
    ['', sourceQueueUrl(stack, event) && queue.kind === 'unrouted' ? 'has a consumer now' : undefined],
    ['failed', moment(message.movedBySqs ? undefined : noted(message, 'failedAt'))],
    ['delivered', moment(noted(message, 'receivedAt'))],
    ['queued', moment(message.sentAt.toISOString())],
    ['kept until', expiry(message.sentAt.getTime() + retention * 1000)],
    ['event id', noted(message, 'eventId')],
    ['request', noted(message, 'requestId')],
    ['received', `${message.receives} × from this queue (every look counts)`],
    ['payload', options.payload ? await payloadText() : undefined],
  ];
  return [
    `message ${message.id}`,
    ...facts.flatMap(([name, value]) =>
      value === undefined ? [] : [`  ${name.padEnd(10)}  ${printable(value)}`],
    ),
  ];

  async function payloadText(): Promise<string> {
    try {
      return (await readPayload(stack, queue, message)).toString();
    } catch (error) {
      if (error instanceof UnreadablePayloadError) return `not readable: ${error.message}`;
      throw error;
    }
  }
}

function moment(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : `${text}, ${duration(Date.now() - time)} ago`;
}

function expiry(time: number): string {
  return `${new Date(time).toISOString()}, for ${duration(time - Date.now())} more`;
}
