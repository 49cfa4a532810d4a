import type { ComponentChildren } from 'preact';
import type { EventQueueInfo, QueueDepth, QueueMessages } from '../../api.ts';
import { api } from '../api.ts';
import { formatRoute } from '../route.ts';
import { changes, stack } from '../store.ts';
import { Empty, Quantity } from '../ui/badge.tsx';
import { Pane } from '../ui/split.tsx';
import { LoadNote, Refresh, useLoad } from '../ui/use-load.tsx';
import { useRun } from '../use-run.tsx';
import { MessageGroups, Redrive } from './message-groups.tsx';
import { MessageTable } from './message-table.tsx';
import { deadLetterAddress, namedQueue, queueAddress, redriveQueues } from './named-queue.ts';

const NOTHING: QueueMessages = { messages: [], limited: false };

interface QueuePaneProps {
  name: string;
  /** Absent for the queues `quarantine` and `unrouted`. */
  queue: EventQueueInfo | undefined;
  children: ComponentChildren;
}

/** The messages of a queue. Reading them removes nothing. */
export function QueuePane({ name, queue, children }: QueuePaneProps) {
  const act = useRun();
  const { event, isDead } = namedQueue(name);
  /** Whether the messages wait for a person. No consumer receives them. */
  const isSetAside = isDead || event === undefined;
  /** Whether messages are hidden: on a stage, reading a queue means receiving, which delays its consumer. */
  const isClosed = !stack.local && !isSetAside;
  const loaded = useLoad(
    name,
    (signal) => (isClosed ? Promise.resolve(NOTHING) : api.messages(name, signal)),
    changes,
  );
  const { messages, limited } = loaded.value ?? NOTHING;
  return (
    <Pane
      title={event ?? name}
      closeLabel={`Close ${event ?? name}`}
      list={formatRoute({ view: 'queues' })}
      link={queueAddress(name)}
      actions={
        <>
          {!isClosed && <Refresh of={loaded} />}
          {isSetAside && messages.length > 0 && (
            <Redrive messages={messages} text="Redrive all" commands={redriveQueues} act={act} />
          )}
        </>
      }
    >
      {children}
      {event !== undefined && <QueueTabs event={event} isDead={isDead} queue={queue} />}
      <LoadNote of={loaded} />
      {isClosed && <NotShown event={event} />}
      {loaded.value !== undefined && !isClosed && messages.length === 0 && <NoMessages name={name} />}
      {messages.length > 0 &&
        (isSetAside ? (
          <MessageGroups messages={messages} hasEvent={false} act={act} />
        ) : (
          <MessageTable label="Messages" messages={messages} hasState />
        ))}
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
      <a
        href={formatRoute({
          view: 'deliveries',
          query: { search: `event:${event}`, outcome: 'in-progress' },
        })}
      >
        Deliveries
      </a>
      .
    </p>
  </Empty>
);

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
  if (isDead) return ['No dead letters', `Every event of ${event} was processed or is being retried.`];
  if (event !== undefined) {
    return ['No messages', 'A message stays here only for milliseconds unless its event is paused or fails.'];
  }
  if (name === 'quarantine') return ['Quarantine is empty', 'Every signed request was a valid event.'];
  return ['No unrouted events', 'Every event was of a known kind.'];
}
