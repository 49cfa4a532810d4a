import { isEventName } from '../../../lambda/contract/catalogue.ts';
import { failureNote, noted, reasonOf } from '../../stage/queues/messages.ts';
import { type WaitingQueue, waitingQueues } from '../../stage/queues/queue.ts';
import type { DeadLetterGroup, DeadLetters } from '../api.ts';
import { Problem } from './problem.ts';
import { type Look, requireLook, type SeenMessage, seenMessages } from './queue-messages.ts';
import { Shortcomings } from './shortcomings.ts';

/** Messages of a queue that are looked at: of a stage 10 a call, and hidden from others meanwhile. */
const LOOKED_AT = 500;

type Letter = DeadLetterGroup['messages'][number] & { readonly reason: string; readonly at: string };

/**
 * The dead letters of every event by why they are, the reason that most have first. One queue is looked at after the
 * other, and of a message its attributes are kept alone.
 * @throws Problem where a look would change something, and nothing may be changed
 */
export async function deadLetters(look: Look, limit = LOOKED_AT): Promise<DeadLetters> {
  requireLook(look);
  const problems = new Shortcomings(look.stack.local);
  const limitedQueues: string[] = [];
  const found: Letter[] = [];
  for (const queue of waitingQueues(look.stack)) {
    const { kind, name, title } = queue;
    if (kind !== 'dead-letter' || !isEventName(name)) continue;
    const seen = await problems.unless(title, seenUnlessRedriven(queue, name));
    if (seen === undefined) continue;
    if (seen.limited) limitedQueues.push(name);
    found.push(...seen.messages);
  }
  const groups = [...Map.groupBy(found, ({ reason }) => reason)].map(([reason, letters]) =>
    groupOf(reason, letters),
  );
  return {
    groups: groups.sort((a, b) => b.count - a.count || (a.lastAt < b.lastAt ? 1 : -1)),
    limited: limitedQueues,
    problems: problems.lines(),
  };

  async function seenUnlessRedriven(queue: WaitingQueue, name: Letter['queue']) {
    const { title, url } = queue;
    try {
      return await seenMessages(look, url, limit, (message) => letterOf(message, queue, name));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.add(title, error.message);
      return undefined;
    }
  }
}

function letterOf(message: SeenMessage, queue: WaitingQueue, name: Letter['queue']): Letter {
  const eventId = noted(message, 'eventId');
  return {
    queue: name,
    id: message.id,
    ...(eventId !== undefined && { eventId }),
    reason: reasonOf(message, queue),
    at: failedAt(message),
  };
}

function groupOf(reason: string, letters: readonly Letter[]): DeadLetterGroup {
  const times = letters.map(({ at }) => at).sort();
  return {
    reason,
    count: letters.length,
    firstAt: times[0] ?? '',
    lastAt: times.at(-1) ?? '',
    messages: letters.map(({ reason: _reason, at: _at, ...message }) => message),
  };
}

/** When it failed for good; of one that SQS moved, or of a time that is none, when it came. */
function failedAt(message: SeenMessage): string {
  const time = Date.parse(failureNote(message, 'failedAt') ?? '');
  return (Number.isNaN(time) ? message.sentAt : new Date(time)).toISOString();
}
