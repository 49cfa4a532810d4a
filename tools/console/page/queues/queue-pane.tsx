import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { payloadPreview } from '../../../stage/history/payload-preview.ts';
import { counted } from '../../../terminal/text.ts';
import type { EventQueueInfo, QueueDepth, QueueMessage, QueueMessages } from '../../api.ts';
import { api } from '../api.ts';
import { formatRoute } from '../route.ts';
import { stack } from '../store.ts';
import { TextBlock } from '../text/text-view.tsx';
import { Visible } from '../text/visible.tsx';
import { Badge, Copies, Empty, Quantity } from '../ui/badge.tsx';
import { Button, Disclose } from '../ui/button.tsx';
import { Copy, shortId } from '../ui/copy.tsx';
import { Pane } from '../ui/split.tsx';
import { Table, type TableColumn, toggled } from '../ui/table.tsx';
import { Age } from '../ui/time.tsx';
import { LoadNote, localRefresh, Refresh, useLoad } from '../ui/use-load.tsx';
import { useRun } from '../use-run.tsx';
import { deadLetterAddress, namedQueue, queueAddress, redriveCommand } from './named-queue.ts';

const LIMIT = 50;

const BODY_ROWS = 20;

const NOTHING: QueueMessages = { messages: [], limited: false };

interface QueuePaneProps {
  name: string;
  /** Absent for quarantine and unrouted. */
  queue: EventQueueInfo | undefined;
  children: ComponentChildren;
}

/** The messages of a queue. Reading them removes nothing. */
export function QueuePane({ name, queue, children }: QueuePaneProps) {
  const { start, ...state } = useRun();
  const { event, isDead } = namedQueue(name);
  /** Its messages wait for a person. No consumer receives them. */
  const isKept = isDead || event === undefined;
  /** On a stage, where reading means receiving. */
  const isClosed = !stack.local && !isKept;
  const loaded = useLoad(
    name,
    (signal) => (isClosed ? Promise.resolve(NOTHING) : api.messages(name, LIMIT, signal)),
    localRefresh(),
  );
  const { messages, limited } = loaded.value ?? NOTHING;
  const redrive = (one?: QueueMessage) =>
    start([redriveCommand(event ?? name, one && [one.id], one?.copies)]);
  return (
    <Pane
      title={event ?? name}
      closeLabel={`Close ${event ?? name}`}
      list={formatRoute({ view: 'queues' })}
      link={queueAddress(name)}
      actions={
        <>
          {!isClosed && <Refresh of={loaded} />}
          {isKept && messages.length > 0 && (
            <Button {...state} onClick={() => redrive()}>
              Redrive all
            </Button>
          )}
        </>
      }
    >
      {children}
      {event !== undefined && <QueueTabs event={event} isDead={isDead} queue={queue} />}
      <LoadNote of={loaded} />
      {isClosed && <NotShown event={event} />}
      {loaded.value !== undefined && !isClosed && messages.length === 0 && <NoMessages name={name} />}
      {messages.length > 0 && (
        <>
          <CopiesNote messages={messages} />
          <Messages
            messages={messages}
            hasState={!isKept}
            redrive={(message) =>
              isKept && (
                <Button
                  {...state}
                  kind="quiet"
                  label={`Redrive ${message.id}`}
                  onClick={() => redrive(message)}
                >
                  Redrive
                </Button>
              )
            }
          />
        </>
      )}
      {limited && <p class="soft">Only the first {messages.length} messages are shown.</p>}
    </Pane>
  );
}

interface QueueTabsProps {
  event: string;
  isDead: boolean;
  queue: EventQueueInfo | undefined;
}

const QueueTabs = ({ event, isDead, queue }: QueueTabsProps) => (
  <nav class="tab-list nav" aria-label={`Queues of ${event}`}>
    <a href={queueAddress(event)} aria-current={isDead ? undefined : 'page'}>
      Messages <Depth of={queue} />
    </a>
    <a href={deadLetterAddress(event)} aria-current={isDead ? 'page' : undefined}>
      Dead letters <Depth of={queue?.dead} />
    </a>
  </nav>
);

const NotShown = ({ event }: { event: string }) => (
  <Empty title="Messages of a stage’s queue are not shown">
    <p>
      SQS shows a message only to a consumer that receives it, and each receive is one of its ten attempts.
      Queued events and their retries are under{' '}
      <a href={formatRoute({ view: 'deliveries', query: { event, state: 'queued,retrying,paused' } })}>
        Deliveries
      </a>
      .
    </p>
  </Empty>
);

function CopiesNote({ messages }: { messages: readonly QueueMessage[] }) {
  const copies = messages.reduce((sum, one) => sum + one.copies, 0);
  if (copies === messages.length) return null;
  return (
    <p class="soft">
      {counted(messages.length, 'event')}, {copies.toLocaleString('en')} copies: the sender repeated the same
      bytes. A redrive includes the copies.
    </p>
  );
}

const Depth = ({ of }: { of: QueueDepth | undefined }) =>
  of === undefined ? null : <Quantity of={of.visible + of.inFlight} />;

function NoMessages({ name }: { name: string }) {
  const [title, why] = reasonOfNone(name);
  return (
    <Empty title={title}>
      <p>{why}</p>
    </Empty>
  );
}

function reasonOfNone(name: string): readonly [title: string, why: string] {
  const { event, isDead } = namedQueue(name);
  if (isDead) return ['No dead letters', `Every event of ${event} was processed or is still being tried.`];
  if (event !== undefined) {
    return ['No messages', 'A message stays here only for milliseconds unless its event is paused or fails.'];
  }
  if (name === 'quarantine') return ['Quarantine is empty', 'Every signed request was a valid event.'];
  return ['No unrouted events', 'Every event was of a known kind.'];
}

const STATES = {
  waiting: { tone: 'neutral', text: 'Waiting' },
  'in flight': { tone: 'info', text: 'In flight' },
  delayed: { tone: 'warning', text: 'Delayed' },
} as const;

interface MessagesProps {
  messages: readonly QueueMessage[];
  /** Dead letters and quarantined messages only wait, so their state is not shown. */
  hasState: boolean;
  redrive: (message: QueueMessage) => ComponentChildren;
}

function Messages({ messages, hasState, redrive }: MessagesProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const columns: TableColumn<QueueMessage>[] = [
    {
      name: 'message',
      heading: 'Message',
      width: 'minmax(0, 1fr)',
      cell: ({ id, eventId, copies, firstSentAt }) => {
        const known = eventId ?? id;
        const short = shortId(known);
        return (
          <div class="row">
            <Disclose
              open={open.has(id)}
              label={`Body of ${short}`}
              onToggle={() => setOpen(toggled(open, id))}
            >
              <code title={known}>{short}</code>
            </Disclose>
            <Copy text={known} label={eventId === undefined ? 'Copy the message id' : 'Copy the event id'} />
            <Copies of={copies} />
            {copies > 1 && (
              <span class="soft">
                first <Age at={firstSentAt} />
              </span>
            )}
          </div>
        );
      },
    },
    {
      name: 'state',
      heading: 'State',
      cell: ({ state }) => <Badge tone={STATES[state].tone}>{STATES[state].text}</Badge>,
    },
    { name: 'age', heading: 'Age', end: true, cell: ({ sentAt }) => <Age at={sentAt} suffix="" /> },
    { name: 'receives', heading: 'Receives', end: true, cell: ({ receives }) => <Quantity of={receives} /> },
    {
      name: 'act',
      heading: 'Actions',
      hidesHeading: true,
      end: true,
      cell: (message) => (
        <>
          {message.requestId !== undefined && (
            <a
              class="button button-quiet"
              href={formatRoute({ view: 'deliveries', path: [message.requestId] })}
            >
              Delivery
            </a>
          )}
          {redrive(message)}
        </>
      ),
    },
  ];
  return (
    <Table
      label="Messages"
      columns={hasState ? columns : columns.filter(({ name }) => name !== 'state')}
      rows={messages}
      idOf={({ id }) => id}
      below={(message) => <MessageText message={message} isOpen={open.has(message.id)} />}
    />
  );
}

/** Why a message is here, or what it is about. Shows its body if it is opened. */
function MessageText({ message, isOpen }: { message: QueueMessage; isOpen: boolean }) {
  const { id, eventId, reason, body, truncated } = message;
  return (
    <div class="stack">
      {reason !== undefined && (
        <p class="bad">
          <Visible text={reason} />
        </p>
      )}
      {reason === undefined && !isOpen && (
        <p class="cut soft mono">
          <Visible text={payloadPreview(body)} />
        </p>
      )}
      {isOpen && <TextBlock text={body} label={`Body of ${eventId ?? id}`} rows={BODY_ROWS} />}
      {isOpen && truncated && (
        <p class="soft">Only the beginning is shown. The delivery has the whole body.</p>
      )}
    </div>
  );
}
