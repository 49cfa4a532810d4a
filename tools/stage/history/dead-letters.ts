import { orRefusal } from '../operation.ts';
import { queueState, waitingQueues } from '../queues/queue.ts';
import { type WaitingMessage, waitingMessages } from '../queues/waiting-messages.ts';
import type { Stage } from '../stage.ts';
import { deriveHistory } from './derive-history.ts';
import type { DeadLetterFact, Fact } from './facts.ts';
import { queueOf } from './history.ts';

/** Milliseconds in which SQS may not count a new message yet. Source: SQS API reference, `GetQueueAttributes`. */
const COUNTS_LATE = { local: 2_000, aws: 60_000 };

interface DeadLettersFound {
  readonly facts: readonly Fact[];
  /**
   * Whether all messages were searched, and why the queue could not be read. Absent if the queues were not searched,
   * because no message can be there.
   */
  readonly queues?: { readonly complete: boolean; readonly refused?: string };
}

/**
 * Looks for the messages of an event on the queues that may have them and that nothing consumes: a log line may be
 * missing, and a message may have left its queue.
 * @param known all facts that are known of the event
 */
export async function deadLettersOf(
  stage: Stage,
  known: readonly Fact[],
  signal: AbortSignal,
): Promise<DeadLettersFound> {
  const { eventId, now } = deriveHistory(known);
  const open = now.filter(({ state }) => MAY_BE_THERE.has(state));
  const queues = waitingQueues(stage).filter(({ name }) => open.some(({ queue }) => queue === name));
  if (eventId === undefined || queues.length === 0) return { facts: [] };
  const found = await orRefusal(stage, async () => {
    const { messages, complete } = await waitingMessages(
      stage,
      (message) => message.eventId === eventId,
      signal,
      queues,
    );
    const moved = messages.find(({ queue, failureReason }) => queue.kind === 'dead-letter' && !failureReason);
    const own = stage.events.find((event) => event === moved?.event);
    const { maxReceives } = own === undefined ? {} : await queueState(stage.sqs, stage.event(own).queueUrl);
    const there = messages.map((message) => deadLetterFact(message, maxReceives));
    const at = Date.now();
    const latest = at - (stage.local ? COUNTS_LATE.local : COUNTS_LATE.aws);
    const left = open.flatMap(({ state, since, requestId, queue = '' }): Fact[] => {
      const isExpected = queueOf({ state, event: queue }) !== undefined && Date.parse(since) < latest;
      const isThere = !complete || there.some((fact) => fact.requestId === requestId);
      return isExpected && !isThere ? [{ kind: 'left', at, requestId, eventId, queue }] : [];
    });
    return { facts: [...there, ...left], queues: { complete } };
  });
  return 'refused' in found ? { facts: [], queues: { complete: false, ...found } } : found;
}

const MAY_BE_THERE: ReadonlySet<string> = new Set(['queued', 'retrying', 'dead-letter', 'invalid', 'parked']);

/** @param receives receives of a message that the queue allows before SQS moves it */
export function deadLetterFact(waiting: WaitingMessage, receives?: number): DeadLetterFact {
  const { queue, message, messageId, requestId, eventId, event, failureReason, expiresAt } = waiting;
  return {
    kind: 'dead-letter',
    at: message.sentAt.getTime(),
    event,
    eventId,
    messageId,
    requestId,
    queue: queue.kind === 'dead-letter' ? undefined : queue.kind,
    error: failureReason,
    // Infinite if somebody has removed the redrive policy since then.
    receives: failureReason === undefined && Number.isFinite(receives) ? receives : undefined,
    until: expiresAt.toISOString(),
  };
}
