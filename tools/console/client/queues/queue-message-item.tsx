import { useState } from 'preact/hooks';
import type { QueueMessage } from '../../api.ts';
import { Age } from '../shared/age.tsx';
import { Badge, type Tone } from '../shared/badge.tsx';
import { Copy } from '../shared/copy.tsx';
import { formatRoute } from '../shell/route.ts';
import { ActButton } from '../tasks/act-button.tsx';

const STATES: Readonly<Record<QueueMessage['state'], { tone: Tone; text: string }>> = {
  waiting: { tone: 'neutral', text: 'Waiting' },
  'in flight': { tone: 'info', text: 'In flight' },
  delayed: { tone: 'warning', text: 'Backing off' },
};

interface QueueMessageItemProps {
  message: QueueMessage;
  redrive?: { refusal: string | undefined; busy: boolean; onClick: () => void };
}

/** One message of a queue: what it is at a glance, its body once it is opened. */
export function QueueMessageItem({ message, redrive }: QueueMessageItemProps) {
  const { id, eventId, event, requestId, sentAt, receives, state, reason, body, truncated } = message;
  const [open, setOpen] = useState(false);
  const { tone, text } = STATES[state];
  const known = eventId ?? id;
  return (
    <li class="message">
      <div class="message-facts">
        <Badge tone={tone}>{text}</Badge>
        <code title={known}>{known.slice(0, 8)}</code>
        <Copy text={known} label={eventId === undefined ? 'Copy the message id' : 'Copy the event id'} />
        <span class="soft">
          {event !== undefined && redrive !== undefined && <code>{event} </code>}
          sent <Age at={sentAt} suffix=" ago" />
          {receives > 0 && `, received ${receives} ×`}
        </span>
        <div class="message-acts">
          {requestId !== undefined && (
            <a
              class="button button-quiet"
              href={formatRoute({ view: 'deliveries', path: [requestId] })}
              aria-label={`Delivery of ${known.slice(0, 8)}`}
            >
              Delivery
            </a>
          )}
          {redrive !== undefined && (
            <ActButton
              kind="quiet"
              refusal={redrive.refusal}
              busy={redrive.busy}
              label={`Redrive ${known.slice(0, 8)}`}
              onClick={redrive.onClick}
            >
              Redrive
            </ActButton>
          )}
        </div>
      </div>
      {reason !== undefined && <p class="message-reason">{reason}</p>}
      <details class="message-body" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Body</summary>
        {open && <pre class="text">{body}</pre>}
        {open && truncated && <p class="soft">It is longer: the rest is in its delivery.</p>}
      </details>
    </li>
  );
}
