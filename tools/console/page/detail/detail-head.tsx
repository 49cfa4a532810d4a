import type { ComponentChildren } from 'preact';
import type { Delivery } from '../../../stage/history/history.ts';
import { stateTitle } from '../../../stage/history/words.ts';
import { Badge } from '../shared/badge.tsx';
import { Button } from '../shared/button.tsx';
import { Copy } from '../shared/copy.tsx';
import { Icon } from '../shared/icon.tsx';
import { Menu } from '../shared/menu.tsx';
import { Time } from '../shared/time.tsx';
import { latencyText } from '../shared/time-text.ts';
import { Visible } from '../text/visible.tsx';

export interface DetailActions {
  /** Why nothing can be changed here. */
  readonly refusal: string | undefined;
  readonly editRefusal: string | undefined;
  readonly resend: () => void;
  readonly edit: () => void;
  readonly copyCurl: () => void;
  readonly copyLink: () => void;
  /** Looks anew at what no stream tells of, such as the row that it wrote. */
  readonly reload: () => void;
}

interface DetailHeadProps {
  delivery: Delivery;
  actions: DetailActions;
  onClose: () => void;
}

/** Digits of an event id that tell two apart, as in a terminal. */
const SHORT_ID = 8;

export function DetailHead({ delivery, actions, onClose }: DetailHeadProps) {
  const { id, eventId, event, state, shopId, receivedAt, latencyMs, attempts } = delivery;
  const { title, tone } = stateTitle(state);
  return (
    <header class="detail-head">
      <div class="detail-title">
        <button type="button" class="icon-button detail-back" aria-label="Back to the list" onClick={onClose}>
          <Icon name="back" />
        </button>
        <h2>{event === undefined ? 'Unknown event' : <Visible text={event} />}</h2>
        <Badge tone={tone}>{title}</Badge>
        <div class="detail-actions">
          <Button
            keyHint="r"
            aria-disabled={actions.refusal !== undefined}
            title={actions.refusal ?? 'Send the same bytes again'}
            onClick={actions.resend}
          >
            Resend
          </Button>
          <Button
            keyHint="e"
            aria-disabled={actions.editRefusal !== undefined}
            title={actions.editRefusal ?? 'Edit the body, sign it and send it'}
            onClick={actions.edit}
          >
            Edit
          </Button>
          <Menu
            class="button button-icon"
            label="More actions"
            button={<Icon name="more" />}
            items={[
              { label: 'Copy as curl', keyHint: 'c', onChoose: actions.copyCurl },
              { label: 'Copy link', keyHint: 'l', onChoose: actions.copyLink },
              { label: 'Look again', onChoose: actions.reload },
            ]}
          />
          <button
            type="button"
            class="icon-button detail-close"
            aria-label="Close"
            title="Close (Escape)"
            onClick={onClose}
          >
            <Icon name="close" />
          </button>
        </div>
      </div>
      <dl class="detail-facts">
        <Fact name="Received">
          <Time at={receivedAt} day milliseconds />
        </Fact>
        <Fact name="To the effect">{latencyMs === undefined ? '–' : latencyText(latencyMs)}</Fact>
        <Fact name="Attempts">{attempts}</Fact>
        <Fact name="Shop">{shopId === undefined ? '–' : <Visible text={shopId} />}</Fact>
        <Fact name="Request">
          <span class="mono cut" title={id}>
            {id}
          </span>
          <Copy text={id} label="Copy the request id" />
        </Fact>
        <Fact name="Event id">
          {eventId === undefined ? (
            '–'
          ) : (
            <>
              <span class="mono" title={eventId}>
                {eventId.slice(0, SHORT_ID)}
              </span>
              <Copy text={eventId} label="Copy the event id" />
            </>
          )}
        </Fact>
      </dl>
    </header>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
