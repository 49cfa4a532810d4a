import type { Delivery } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { navigate, route } from '../route.ts';
import { asShown, deliveryOf, rows, stack, tasks } from '../store.ts';
import { Visible } from '../text/visible.tsx';
import { Empty, ErrorNote, Loading } from '../ui/badge.tsx';
import { IconButton } from '../ui/button.tsx';
import { Copy, shortId } from '../ui/copy.tsx';
import { Menu } from '../ui/menu.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { bytesText, durationText, Time } from '../ui/time.tsx';
import { useKeys } from '../use-keys.tsx';
import { Logs } from './logs.tsx';
import { Outcome, Overview } from './overview.tsx';
import { Request, Response } from './request.tsx';
import { useActions } from './use-actions.tsx';
import { useDetail } from './use-detail.ts';

const TABS = ['overview', 'request', 'response', 'logs'] as const;
type TabName = (typeof TABS)[number];

interface DetailPaneProps {
  id: string;
  onClose: () => void;
  /** @param delivery id of the new delivery that the user sent from this pane */
  onSent: (delivery: string) => void;
}

export function DetailPane({ id, onClose, onSent }: DetailPaneProps) {
  // Reading the signal here renders the pane again when the stream brings a change.
  void rows.value;
  const row = deliveryOf(id);
  const { detail, error, awaited, reload } = useDetail(id, row);
  const delivery = row ?? (detail && asShown(detail));
  if (delivery !== undefined) {
    return <Shown {...{ delivery, detail, error, reload, onClose, onSent }} key={id} />;
  }
  if (error !== undefined) {
    return (
      <Empty title="Delivery not found">
        <p>{error}</p>
        {stack.local && (
          <p>
            The local stack started empty at <Time at={stack.startedAt} />. Deliveries from before a restart
            are lost.
          </p>
        )}
        <a href="#/deliveries">All deliveries</a>
      </Empty>
    );
  }
  if (!awaited) return <Loading />;
  const isSent = tasks.value.some(({ deliveries }) => deliveries.includes(id));
  return (
    <Empty title={isSent ? 'Sent' : 'Not found yet'}>
      <p role="status">The stage’s logs do not contain this delivery yet. Logs arrive some seconds late.</p>
    </Empty>
  );
}

interface ShownProps extends Omit<DetailPaneProps, 'id'> {
  delivery: Delivery;
  detail: DeliveryDetail | undefined;
  error: string | undefined;
  reload: () => void;
}

function Shown({ delivery, detail, error, reload, onClose, onSent }: ShownProps) {
  const { event } = delivery;
  const { keys, primary, others, busy, editor } = useActions(delivery, detail, reload, onSent);
  const tab = TABS.find((name) => name === route.value.query.tab) ?? 'overview';
  const show = (name: TabName | undefined) => {
    if (name === undefined) return;
    const query = { ...route.value.query, tab: name === 'overview' ? '' : name };
    navigate({ ...route.value, query }, { replace: true });
  };
  useKeys('delivery', {
    ...keys,
    '[': () => show(TABS[TABS.indexOf(tab) - 1]),
    ']': () => show(TABS[TABS.indexOf(tab) + 1]),
  });
  const labels = tabLabels(delivery, detail);
  return (
    <article class="detail">
      <header class="stack">
        <div class="row">
          <IconButton icon="back" label="Back to the list" class="detail-back" onClick={onClose} />
          <h2 class="wrap">{event === undefined ? 'Unknown event' : <Visible text={event} />}</h2>
          <Menu label="More actions" items={others} />
          <IconButton
            icon="close"
            label="Close"
            title="Close (Escape)"
            class="detail-close"
            onClick={onClose}
          />
        </div>
        <Outcome delivery={delivery} detail={detail} action={primary} busy={busy} />
        <DeliveryFields delivery={delivery} />
      </header>
      <ErrorNote>{error}</ErrorNote>
      <Tabs
        label="Parts of the delivery"
        tabs={TABS.map((name) => ({ name, label: labels[name] }))}
        active={tab}
        onChange={show}
      >
        {detail !== undefined && <DetailTab name={tab} delivery={delivery} detail={detail} />}
        {detail === undefined && error === undefined && <Loading />}
      </Tabs>
      {editor}
    </article>
  );
}

/** Names of the tabs, with figures that are known before a tab is opened, such as the body's size. */
function tabLabels({ bytes, status }: Delivery, detail: DeliveryDetail | undefined) {
  const label = (title: string, note: string | number | undefined) => (
    <>
      {title} {note !== undefined && <span class="tab-note">{note}</span>}
    </>
  );
  return {
    overview: 'Overview',
    request: label('Request', bytes === undefined ? undefined : bytesText(bytes)),
    response: label('Response', status),
    logs: label('Logs', detail?.logs.length),
  } as const satisfies Record<TabName, unknown>;
}

interface DetailTabProps {
  name: TabName;
  delivery: Delivery;
  detail: DeliveryDetail;
}

function DetailTab({ name, delivery, detail }: DetailTabProps) {
  if (name === 'overview') return <Overview delivery={delivery} detail={detail} />;
  if (name === 'request') return <Request detail={detail} />;
  return name === 'response' ? <Response answer={detail.answer} /> : <Logs lines={detail.logs} />;
}

function DeliveryFields({
  delivery: { id, eventId, shopId, receivedAt, latencyMs, attempts },
}: {
  delivery: Delivery;
}) {
  const fields = [
    ['Received', <Time key="" at={receivedAt} />],
    ['Shop', shopId === undefined ? '–' : <Visible text={shopId} />],
    ['Attempts', attempts],
    ['Duration', latencyMs === undefined ? '–' : durationText(latencyMs)],
    ['Request', <Id key="" id={id} label="Copy the request id" />],
    ['Event id', eventId === undefined ? '–' : <Id key="" id={eventId} label="Copy the event id" />],
  ] as const;
  return (
    <dl class="detail-fields">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="wrap">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const Id = ({ id, label }: { id: string; label: string }) => (
  <>
    <span class="mono" title={id}>
      {shortId(id)}
    </span>
    <Copy text={id} label={label} />
  </>
);
