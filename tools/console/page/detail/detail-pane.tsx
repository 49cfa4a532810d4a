import { useState } from 'preact/hooks';
import type { Delivery, Place } from '../../../stage/history/history.ts';
import { stateTitle } from '../../../stage/history/state-text.ts';
import type { DeliveryDetail } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { curlCommand } from '../editor/curl-command.ts';
import { Editor, LONGEST_EDITED } from '../editor/editor.tsx';
import { redriveCommand } from '../queues/named-queue.ts';
import { navigate, route } from '../route.ts';
import { deliveryOf, refusal, rows, stack, tasks } from '../store.ts';
import { Visible } from '../text/visible.tsx';
import { Badge, Empty, ErrorNote, Loading } from '../ui/badge.tsx';
import { IconButton } from '../ui/button.tsx';
import { Copy, copyText } from '../ui/copy.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { bytesText, durationText, Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { useKeys } from '../use-keys.tsx';
import { type Command, taskEnd, useRun, useSend } from '../use-run.tsx';
import { Logs } from './logs.tsx';
import { Overview, placeOf } from './overview.tsx';
import { Request, Response } from './request.tsx';
import { useDetail } from './use-detail.ts';

const TABS = ['overview', 'request', 'response', 'logs'] as const;
type TabName = (typeof TABS)[number];

interface DetailPaneProps {
  id: string;
  onClose: () => void;
  /** @param delivery id of the request that was sent from here */
  onSent: (delivery: string) => void;
}

/** One delivery: its outcome and the next action, its effects, its timeline, and the request. */
export function DetailPane({ id, onClose, onSent }: DetailPaneProps) {
  // Reading the signal makes the pane render again when the stream brings a change.
  void rows.value;
  const row = deliveryOf(id);
  const { detail, error, awaited, reload } = useDetail(id, row);
  const delivery = row ?? detail;
  if (delivery !== undefined) {
    return <Shown {...{ delivery, detail, error, reload, onClose, onSent }} key={id} />;
  }
  if (error !== undefined) {
    return (
      <Empty title="Delivery not found">
        <p>{error}</p>
        <a href="#/deliveries">All deliveries</a>
      </Empty>
    );
  }
  if (!awaited) return <Loading />;
  const isSent = tasks.value.some(({ deliveries }) => deliveries.includes(id));
  return (
    <Empty title={isSent ? 'Sent' : 'Not found yet'}>
      <p role="status">The stage’s logs do not have it yet. They arrive some seconds later.</p>
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
  const { event, state, bytes, status } = delivery;
  const { primary, others, busy, failure, editor } = useActions(delivery, detail, reload, onSent);
  const tab = TABS.find((name) => name === route.value.query.tab) ?? 'overview';
  const show = (name: TabName | undefined) => {
    if (name === undefined) return;
    const query = { ...route.value.query, tab: name === 'overview' ? '' : name };
    navigate({ ...route.value, query }, { replace: true });
  };
  useKeys({
    '[': () => show(TABS[TABS.indexOf(tab) - 1]),
    ']': () => show(TABS[TABS.indexOf(tab) + 1]),
  });
  const labels: Record<TabName, string> = {
    overview: 'Overview',
    request: `Request${bytes === undefined ? '' : ` ${bytesText(bytes)}`}`,
    response: `Response${status === undefined ? '' : ` ${status}`}`,
    logs: `Logs${detail === undefined ? '' : ` ${detail.logs.length}`}`,
  };
  const { title, tone } = stateTitle(state);
  return (
    <article class="detail">
      <header>
        <div class="row">
          <IconButton icon="back" label="Back to the list" class="detail-back" onClick={onClose} />
          <h2 class="wrap">{event === undefined ? 'Unknown event' : <Visible text={event} />}</h2>
          <Badge tone={tone}>{title}</Badge>
          <Menu class="icon-button" label="More actions" button={<Icon name="more" />} items={others} />
          <IconButton
            icon="close"
            label="Close"
            title="Close (Escape)"
            class="detail-close"
            onClick={onClose}
          />
        </div>
        <Facts delivery={delivery} />
      </header>
      <ErrorNote>{error}</ErrorNote>
      <Tabs
        label="Parts of the delivery"
        tabs={TABS.map((name) => ({ name, label: labels[name] }))}
        active={tab}
        onChange={show}
      >
        {tab === 'overview' ? (
          <Overview delivery={delivery} detail={detail} action={primary} busy={busy} error={failure} />
        ) : detail === undefined ? (
          error === undefined && <Loading />
        ) : tab === 'request' ? (
          <Request detail={detail} />
        ) : tab === 'response' ? (
          <Response answer={detail.answer} />
        ) : (
          <Logs lines={detail.logs} />
        )}
      </Tabs>
      {editor}
    </article>
  );
}

function Facts({
  delivery: { id, eventId, shopId, receivedAt, latencyMs, attempts },
}: {
  delivery: Delivery;
}) {
  const facts = [
    ['Received', <Time key="" at={receivedAt} milliseconds />],
    ['Shop', shopId === undefined ? '–' : <Visible text={shopId} />],
    ['Attempts', attempts],
    ['Duration', latencyMs === undefined ? '–' : durationText(latencyMs)],
    ['Request id', <Id key="" id={id} label="Copy the request id" />],
    ['Event id', eventId === undefined ? '–' : <Id key="" id={eventId} label="Copy the event id" />],
  ] as const;
  return (
    <dl class="detail-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt class="soft">{name}</dt>
          <dd class="wrap">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const Id = ({ id, label }: { id: string; label: string }) => (
  <>
    <span class="mono">{id}</span>
    <Copy text={id} label={label} />
  </>
);

/** All actions for a delivery. The one that fits its outcome comes first. */
function useActions(
  delivery: Delivery,
  detail: DeliveryDetail | undefined,
  reload: () => void,
  onSent: (delivery: string) => void,
) {
  const { id, event, eventId } = delivery;
  const [edited, setEdited] = useState<string>();
  const sender = useSend();
  const runner = useRun({ opens: false });
  const refused = refusal();

  const resend = async () => {
    const hasHeaders = stack.local && detail?.request.headers.length !== 0;
    const argv = ['send', '--again', id, ...(hasHeaders ? ['--same-headers'] : [])];
    // It is the same event, so its timeline contains both.
    if (await sender.send({ argv, does: 'Sends the same body again, with a new signature.' })) reload();
  };
  const redrive = async (command: Command) => {
    const begun = await runner.start([command]);
    if (begun?.[0] === undefined) return;
    try {
      const { state, lines } = await taskEnd(begun[0]);
      if (state === 'done') showToast({ level: 'info', text: 'Redriven.' });
      else showToast({ level: 'error', text: lines.join('\n') });
      reload();
    } catch (failure) {
      showToast({ level: 'error', text: `The end of the redrive is not known: ${errorText(failure)}` });
    }
  };
  const body = async () => {
    try {
      return await api.body(id);
    } catch (failure) {
      showToast({ level: 'error', text: errorText(failure) });
      return undefined;
    }
  };
  const editRefusal = stack.local
    ? refused
    : 'An edited body needs a signature, and only the local stack’s secret is known here.';
  const edit = async () => {
    if (editRefusal !== undefined) {
      showToast({ level: 'error', text: editRefusal });
      return;
    }
    const loaded = await body();
    if (loaded === undefined) return;
    if (loaded.isUtf8 && loaded.text.length <= LONGEST_EDITED) {
      setEdited(loaded.text);
      return;
    }
    const why = loaded.isUtf8 ? `longer than ${LONGEST_EDITED.toLocaleString('en')} characters` : 'not UTF-8';
    const text = `The body is ${why}. Save it, edit the file, and send it with npm run send -- --file`;
    showToast({ level: 'error', text });
  };
  const copyCurl = async () => {
    const type = detail?.request.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
    const command = body().then((loaded) =>
      curlCommand({
        url: stack.webhookUrl,
        secret: stack.secret,
        body: loaded?.text,
        isUtf8: loaded?.isUtf8 ?? false,
        contentType: type ?? 'application/json',
      }),
    );
    if (await copyText(command)) {
      showToast({ level: 'info', text: 'Copied as curl, with openssl to sign it.' });
    }
  };
  const copyLink = async () => {
    if (await copyText(location.href)) showToast({ level: 'info', text: 'Link copied.' });
  };

  const sends: MenuItem = { label: 'Resend', keyHint: 'r', refusal: refused, onChoose: resend };
  const isInvalid = delivery.state === 'invalid';
  const edits: MenuItem = {
    label: isInvalid ? 'Edit and resend' : 'Edit and send',
    keyHint: 'e',
    refusal: editRefusal,
    onChoose: edit,
  };
  const redrives = redriveOf(detail?.history.now[0] ?? placeOf(delivery), event, eventId);
  const redriving: MenuItem | undefined = redrives && {
    label: redrives.label,
    refusal: refused ?? redrives.refusal,
    onChoose: () => redrive(redrives.command),
  };
  const primary = isInvalid && stack.local ? edits : (redriving ?? sends);
  const all: MenuItem[] = [
    ...(redriving === undefined ? [] : [redriving]),
    sends,
    edits,
    { label: 'Copy as curl', keyHint: 'c', onChoose: copyCurl },
    { label: 'Copy link', keyHint: 'l', onChoose: copyLink },
    { label: 'Refresh', onChoose: reload },
  ];
  useKeys(
    Object.fromEntries(
      all.flatMap(({ keyHint, onChoose }) => (keyHint === undefined ? [] : [[keyHint, onChoose]])),
    ),
  );
  return {
    primary,
    others: all.filter((action) => action !== primary),
    busy: sender.busy || runner.busy,
    failure: runner.error,
    editor: edited !== undefined && (
      <Editor
        title={`Edit and send ${event ?? ''}`}
        text={edited}
        isEdit
        onClose={() => setEdited(undefined)}
        onSent={onSent}
      />
    ),
  };
}

/** How to redrive a delivery, and why that is not possible yet. Undefined if no queue keeps it for redrive. */
function redriveOf(
  { state, queue, queueHolds }: Place,
  event: string | undefined,
  eventId: string | undefined,
): { command: Command; label: string; refusal?: string } | undefined {
  if (eventId === undefined || queueHolds === 0) return undefined;
  const from = (name: string) => redriveCommand(name, [eventId]);
  if (state === 'invalid') return { command: from('quarantine'), label: 'Redrive from quarantine' };
  if (state === 'dead-letter') return { command: from(queue ?? event ?? ''), label: 'Redrive' };
  if (state !== 'parked') return undefined;
  const parked = { command: from('unrouted'), label: 'Redrive from unrouted' };
  if (stack.events.some(({ name }) => name === event)) return parked;
  return { ...parked, refusal: `${event ?? 'This event'} has no consumer yet. Add one first.` };
}
