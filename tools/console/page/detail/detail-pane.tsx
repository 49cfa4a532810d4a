import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Delivery, isWaiting, queueOf } from '../../../stage/history/history.ts';
import { type Clock, stateWords } from '../../../stage/history/state-text.ts';
import type { DeliveryDetail } from '../../api.ts';
import { closeDelivery } from '../deliveries/delivery-rows.ts';
import { formatRoute } from '../route.ts';
import { asShown, rows, stack } from '../store.ts';
import { Visible } from '../text/visible.tsx';
import { Badge, Empty, ErrorNote, Loading, Problems, shortId } from '../ui/badge.tsx';
import { Button, Copy, IconButton } from '../ui/button.tsx';
import { Menu } from '../ui/menu.tsx';
import { now, Time, timeText } from '../ui/time.tsx';
import { useKeys } from '../use-keys.tsx';
import { Body } from './body.tsx';
import { Effects } from './effects.tsx';
import { Exchange } from './exchange.tsx';
import { Timeline } from './timeline.tsx';
import { useActions } from './use-actions.ts';
import { useDetail } from './use-detail.ts';

export function DetailPane({ id }: { id: string }) {
  const own = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // On a narrow page, it replaces the list.
    if (document.querySelector('.deliveries-table')?.checkVisibility() !== true) own.current?.focus();
  }, []);
  return (
    <section ref={own} id="detail" class="detail-pane" aria-label="Delivery" tabIndex={-1}>
      <Detail id={id} />
    </section>
  );
}

function Detail({ id }: { id: string }) {
  const row = rows.value.all.find((one) => one.id === id);
  const { value: detail, error } = useDetail(id, row);
  const delivery = row ?? (detail && asShown(detail));
  if (delivery !== undefined) return <Shown {...{ delivery, detail, error }} key={id} />;
  if (error === undefined) return <Loading />;
  return (
    <Empty title="Delivery not found">
      <p role="status">{error}</p>
      {stack.local ? (
        <p>
          The local stack started empty at <Time at={stack.startedAt} />. Deliveries from before a restart are
          lost.
        </p>
      ) : (
        <p>Logs of the stage arrive some seconds late. The page asks again.</p>
      )}
      <a href="#/deliveries">All deliveries</a>
    </Empty>
  );
}

interface ShownProps {
  delivery: Delivery;
  detail: DeliveryDetail | undefined;
  error: string | undefined;
}

function Shown({ delivery, detail, error }: ShownProps) {
  const { event, claimed } = delivery;
  const { keys, primary, others, busy, copyCurl } = useActions(delivery, detail?.exchange);
  useKeys('delivery', keys);
  const clock = { now: detail?.settled === false ? now.value : Date.now(), time: timeText };
  return (
    <article class="detail">
      <header class="stack">
        <div class="row nowrap">
          <h2 class="wrap grow">
            {event === undefined ? 'Unknown event' : <Visible text={event} />}{' '}
            {claimed && <Badge>Not verified</Badge>}
          </h2>
          <Button keyHint="c" onClick={copyCurl}>
            Copy as curl
          </Button>
          <Menu label="More actions" items={others} />
          <IconButton icon="close" label="Close" title="Close (Escape)" onClick={closeDelivery} />
        </div>
        <Outcome delivery={delivery} detail={detail} clock={clock}>
          {primary !== undefined && (
            <Button
              kind="primary"
              keyHint={primary.keyHint}
              refusal={primary.refusal}
              busy={busy}
              onClick={primary.onChoose}
            >
              {primary.label}
            </Button>
          )}
        </Outcome>
        <DeliveryFields delivery={delivery} />
      </header>
      <ErrorNote>{error}</ErrorNote>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls */}
      <section class="scrolled overview stack" aria-label="Parts of the delivery" tabIndex={0}>
        {detail === undefined && error === undefined && <Loading />}
        {detail !== undefined && (
          <>
            <Refusal detail={detail} />
            <Problems problems={detail.problems} />
            <Body detail={detail} />
            <Effects effects={detail.effects} />
            <Timeline id={detail.id} state={delivery.state} history={detail.history} clock={clock} />
            <Exchange detail={detail} />
          </>
        )}
      </section>
    </article>
  );
}

interface OutcomeProps {
  delivery: Delivery;
  /** Undefined while the detail loads. */
  detail: DeliveryDetail | undefined;
  clock: Clock;
  /** The main action. */
  children: ComponentChildren;
}

/** What happened to a delivery, and what to do first. */
function Outcome({ delivery, detail, clock, children }: OutcomeProps) {
  const { state, event, receivedAt, latencyMs = 0 } = delivery;
  const since = new Date(Date.parse(receivedAt) + latencyMs).toISOString();
  // The row is newer than the detail, which knows more, such as the next attempt.
  const known = detail?.history.now.find((one) => one.state === state);
  const location = { since, queue: event, ...delivery, ...known };
  const { title, tone, detail: text } = stateWords(location, clock);
  const search = queueOf({ state, event });
  const waiting = isWaiting(state) && formatRoute({ view: 'queues' });
  const address = search === undefined ? waiting : formatRoute({ view: 'needs-you', query: { search } });
  return (
    <div class={search === undefined ? 'row' : `note row tone-${tone}`}>
      <div class="grow">
        <h3 class={`toned tone-${tone}`}>{title}</h3>
        <p>
          <Visible text={text} /> {address && <a href={address}>Show the queue</a>}
        </p>
      </div>
      {children}
    </div>
  );
}

/** Why the signature was refused, and what the sender must change. */
function Refusal({ detail: { mistakes = [] } }: { detail: DeliveryDetail }) {
  if (mistakes.length === 0) return null;
  return (
    <section class="stack">
      <h3>Why it was refused</h3>
      {mistakes.map(({ what, remedy }) => (
        <p key={what}>
          {what} <span class="soft">{remedy}</span>
        </p>
      ))}
    </section>
  );
}

function DeliveryFields({ delivery }: { delivery: Delivery }) {
  const { id, eventId, shopId, receivedAt } = delivery;
  const fields = [
    ['Received', <Time key="" at={receivedAt} />],
    ['Shop', shopId === undefined ? '–' : <ShopLink key="" id={shopId} />],
    ['Request', <Id key="" id={id} label="Copy the request id" />],
    ['Event id', eventId === undefined ? '–' : <Id key="" id={eventId} label="Copy the event id" />],
  ] as const;
  return (
    <dl class="row">
      {fields.map(([name, value]) => (
        <div key={name} class="grow">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const ShopLink = ({ id }: { id: string }) => (
  <a href={formatRoute({ view: 'deliveries', query: { search: `shop:${id}` } })}>
    <Visible text={id} />
  </a>
);

const Id = ({ id, label }: { id: string; label: string }) => (
  <>
    <span class="mono" title={id}>
      {shortId(id)}
    </span>
    <Copy text={id} label={label} />
  </>
);
