import type { InspectedMessage } from '../../../local/observation.ts';
import { redriveAll } from '../../stage/queues/move-task.ts';
import { pause, resume } from '../../stage/queues/pause.ts';
import { eventOf, type WaitingQueue, waitingQueue } from '../../stage/queues/queue.ts';
import { redriveEach } from '../../stage/queues/redrive-each.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { messages } from '../../terminal/text.ts';
import type { Action, Confirmation } from '../api.ts';
import type { Source } from '../source.ts';
import { notFound, Problem } from './problem.ts';
import type { Inspect } from './queue-messages.ts';
import type { QueueUse } from './queue-use.ts';
import { replayWork } from './replay-work.ts';
import { bodyOfSample, sendAgain, sendSigned } from './sending.ts';
import type { Work } from './tasks.ts';

/** Ids that a command shows in full. */
const IDS_SHOWN = 20;

/** An action, and what it does, in a sentence. */
type PlannedWork = Work & Confirmation;

/** What actions work with. */
interface ActionParts {
  readonly source: Source;
  /** Whether the stack runs in this process, and takes any text. */
  readonly local: boolean;
  /** Looks without receiving. */
  readonly inspect: Inspect | undefined;
  readonly use: QueueUse;
}

/**
 * What an action would do.
 * @throws Problem or CommandError where it is none that can be done
 */
export function plan(action: Action, parts: ActionParts): PlannedWork | Promise<PlannedWork> {
  const { stage: stack } = parts.source;
  switch (action.kind) {
    case 'send':
      return {
        command: stack.command(action.event, 'send'),
        explanation: `Signs the sample of ${action.event}, its timestamp now, and posts it to ${stack.title}, where it has its effect as any delivery.`,
        run: (operation) => sendSigned(operation, bodyOfSample(action.event)),
      };
    case 'resend':
      return resend(action.id, parts);
    case 'send-text':
      return sendText(action.body, parts);
    case 'redrive':
      return redrive(waitingQueue(stack, action.queue), action.ids, parts);
    case 'pause': {
      const event = eventOf(stack, action.event);
      return {
        command: stack.command(`${event} --reason ${shellWord(action.reason)}`, 'pause'),
        explanation: `Turns the processing of ${event} off: what comes waits on its queue, and one alarm tells people who did it and why.`,
        subject: `the event source of ${event}`,
        run: (operation) => pause(operation, event, action.reason),
      };
    }
    case 'resume': {
      const event = eventOf(stack, action.event);
      return {
        command: stack.command(event, 'resume'),
        explanation: `Turns the processing of ${event} on again: what waits is processed.`,
        subject: `the event source of ${event}`,
        run: (operation) => resume(operation, event),
      };
    }
    case 'replay':
      return replayWork(action, stack);
  }
}

async function resend(id: string, parts: ActionParts): Promise<PlannedWork> {
  const { source, local } = parts;
  const delivery = source.store.get(id);
  if (delivery === undefined) throw notFound(`There is no delivery ${id}, or it is not known any more`);
  const [request, body] = await Promise.all([source.request(delivery), source.body(delivery)]);
  if (body === undefined) {
    const why = request.bodyMissing ?? 'nothing has kept it';
    throw new Problem('no-body', 409, 'No body', `What was sent is not there to be sent again: ${why}`);
  }
  const asItWas = local && request.headers.length > 0;
  return {
    command: source.stage.command('--file body.json', 'send'),
    explanation: asItWas
      ? 'Posts the same bytes with the same headers, and so the same signature, once more.'
      : `Signs the same bytes with the secret of ${source.stage.title} and posts them once more: the effect of an event is had once.`,
    run: (operation) => (asItWas ? sendAgain(operation, request, body) : sendSigned(operation, body)),
  };
}

function sendText(body: string, parts: ActionParts): PlannedWork {
  if (!parts.local) {
    throw new Problem(
      'local-only',
      403,
      'Of the local stack only',
      'A made-up text is signed and sent to the local stack alone: a stage gets what the partner sends, and samples',
    );
  }
  const bytes = Buffer.from(body);
  return {
    command: parts.source.stage.command('--file body.json', 'send'),
    explanation: `Signs the text, ${bytes.length.toLocaleString('en')} bytes, and posts it to ${parts.source.stage.title}.`,
    run: (operation) => sendSigned(operation, bytes),
  };
}

function redrive(
  queue: WaitingQueue,
  ids: readonly string[] | undefined,
  { source, inspect, use }: ActionParts,
): PlannedWork {
  const { name, title, url } = queue;
  const shown = ids?.slice(0, IDS_SHOWN).map((id) => ` --id ${shellWord(id)}`) ?? [];
  const more = ids !== undefined && ids.length > shown.length ? ' …' : '';
  const isMove = queue.kind === 'dead-letter' && ids === undefined;
  return {
    command: source.stage.command(`redrive ${name}${shown.join('')}${more}`),
    explanation: explanationOf(queue, ids),
    subject: title,
    run: (operation) =>
      use.redrive(url, async () => {
        const before = queue.kind === 'quarantine' ? undefined : await inspect?.(url);
        // What fails again at once has done so before the move is known to have ended.
        const at = Date.now();
        const done = await (isMove ? redriveAll(operation, queue) : redriveEach(operation, queue, ids));
        if (before !== undefined) {
          const left = new Set((await inspect?.(url))?.map(({ id }) => id));
          const gone = before.filter(({ id }) => !left.has(id));
          for (const { attributes } of gone) noteRedrive(source, attributes, at);
        }
        return done;
      }),
  };
}

/** Nothing is logged of a redrive until the next attempt is done. */
function noteRedrive({ store }: Source, attributes: InspectedMessage['attributes'], at: number): void {
  const { requestId, eventId, event } = attributes;
  if (requestId !== undefined) store.add({ kind: 'redrive', at, requestId, eventId, event });
}

function explanationOf({ kind, name, title }: WaitingQueue, ids: readonly string[] | undefined): string {
  const what = ids === undefined ? 'all' : messages(ids.length);
  switch (kind) {
    case 'dead-letter':
      return `Moves ${ids === undefined ? 'every message' : what} of ${title} back to the queue of ${name}: what fails again becomes a dead letter again.`;
    case 'unrouted':
      return `Moves, of ${what} on ${title}, those to their queue whose event has a consumer by now; the others stay.`;
    case 'quarantine':
      return `Signs the bytes of ${what} in quarantine anew and posts them to the receiver; what is still unusable is quarantined anew.`;
  }
}
