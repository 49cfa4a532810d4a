import type { Action, DeadLetterGroup } from '../../api.ts';
import { deadName } from '../queues/queue-names.ts';
import { Copy } from '../shared/copy.tsx';
import { formatRoute } from '../shell/route.ts';
import { ActButton } from '../tasks/act-button.tsx';

interface DeadLetterMessagesProps {
  group: DeadLetterGroup;
  refusal: string | undefined;
  busy: boolean;
  run: (actions: readonly Action[]) => void;
}

/** Messages of a group, each with the way to its delivery and to its queue. */
export function DeadLetterMessages({ group, refusal, busy, run }: DeadLetterMessagesProps) {
  return (
    <ul class="letters">
      {group.messages.map(({ queue, id, eventId }) => {
        const known = eventId ?? id;
        return (
          <li key={id}>
            <span class="letter-queue">{queue}</span>
            <code class="letter-id" title={known}>
              {known}
            </code>
            <Copy text={known} label={eventId === undefined ? 'Copy the message id' : 'Copy the event id'} />
            <span class="letter-acts">
              {eventId !== undefined && (
                <a
                  class="button button-quiet"
                  href={formatRoute({ view: 'deliveries', query: { search: eventId } })}
                  aria-label={`Deliveries of ${known}`}
                >
                  Deliveries
                </a>
              )}
              <a
                class="button button-quiet"
                href={formatRoute({ view: 'queues', path: [deadName(queue)] })}
                aria-label={`Queue of the dead letters of ${queue}`}
              >
                Queue
              </a>
              <ActButton
                kind="quiet"
                refusal={refusal}
                busy={busy}
                label={`Redrive ${known}`}
                onClick={() => run([{ kind: 'redrive', queue, ids: [id] }])}
              >
                Redrive
              </ActButton>
            </span>
          </li>
        );
      })}
    </ul>
  );
}
