import { useId, useMemo, useState } from 'preact/hooks';
import type { QueueMessage } from '../../api.ts';
import { Age } from '../shared/age.tsx';
import { Badge } from '../shared/badge.tsx';
import { Copy } from '../shared/copy.tsx';
import type { Tone } from '../shared/tone.ts';
import { formatRoute } from '../shell/route.ts';
import { ActButton } from '../tasks/act-button.tsx';
import { TextBlock } from '../text/text-block.tsx';
import { Visible } from '../text/visible.tsx';
import { previewText } from './preview-text.ts';

/** Rows of a body that are seen at once. */
const BODY_ROWS = 20;

const STATES: Readonly<Record<QueueMessage['state'], { tone: Tone; text: string }>> = {
  waiting: { tone: 'neutral', text: 'Waiting' },
  'in flight': { tone: 'info', text: 'In flight' },
  delayed: { tone: 'warning', text: 'Delayed' },
};

interface QueueMessageItemProps {
  message: QueueMessage;
  /** Of a queue on which messages wait for somebody. */
  redrive?: { refusal: string | undefined; busy: boolean; onClick: () => void };
}

/** One message of a queue: what it is at a glance, its body once it is opened. */
export function QueueMessageItem({ message, redrive }: QueueMessageItemProps) {
  const { id, eventId, requestId, sentAt, receives, state, reason, body, truncated } = message;
  const [open, setOpen] = useState(false);
  const bodyId = useId();
  const preview = useMemo(() => previewText(body), [body]);
  const known = eventId ?? id;
  const short = known.slice(0, 8);
  const { tone, text } = STATES[state];
  return (
    <li class="message">
      <div class="message-facts">
        <button
          type="button"
          class="disclose mono"
          aria-expanded={open}
          aria-controls={bodyId}
          title={known}
          onClick={() => setOpen(!open)}
        >
          <span class="visually-hidden">Body of </span>
          {short}
        </button>
        <Copy text={known} label={eventId === undefined ? 'Copy the message id' : 'Copy the event id'} />
        {/* What is dead or set aside only ever waits: that says nothing. */}
        {redrive === undefined && <Badge tone={tone}>{text}</Badge>}
        <span class="soft">
          <Age at={sentAt} suffix=" ago" />
          {receives > 0 && `, received ${receives} ×`}
        </span>
        <div class="message-acts">
          {requestId !== undefined && (
            <a
              class="button button-quiet"
              href={formatRoute({ view: 'deliveries', path: [requestId] })}
              aria-label={`Delivery of ${short}`}
            >
              Delivery
            </a>
          )}
          {redrive !== undefined && (
            <ActButton
              kind="quiet"
              refusal={redrive.refusal}
              busy={redrive.busy}
              label={`Redrive ${short}`}
              onClick={redrive.onClick}
            >
              Redrive
            </ActButton>
          )}
        </div>
      </div>
      {reason !== undefined && (
        <p class="message-reason">
          <Visible text={reason} />
        </p>
      )}
      {reason === undefined && !open && (
        <p class="message-preview">
          <Visible text={preview} />
        </p>
      )}
      <div id={bodyId} class="message-body" hidden={!open}>
        {open && <TextBlock text={body} label={`Body of ${short}`} rows={BODY_ROWS} />}
        {open && truncated && <p class="hint soft">This is its beginning. All of it is in its delivery.</p>}
      </div>
    </li>
  );
}
