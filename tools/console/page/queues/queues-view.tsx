import { useSignal } from '@preact/signals';
import { callerName } from '../../../stage/history/state-text.ts';
import type { EventQueueInfo, QueueDepth, QueuesInfo } from '../../api.ts';
import { OUTCOME_WORDS } from '../deliveries/outcomes.ts';
import { route } from '../route.ts';
import { queues, stack } from '../store.ts';
import { Visible } from '../text/visible.tsx';
import { Badge, ErrorNote, Loading, Problems, Quantity } from '../ui/badge.tsx';
import { Split } from '../ui/split.tsx';
import { Table, type TableColumn } from '../ui/table.tsx';
import { Age } from '../ui/time.tsx';
import { Refresh } from '../ui/use-load.tsx';
import { deadLetterAddress, namedQueue, queueAddress } from './named-queue.ts';
import { PauseDialog, PauseOrResume } from './pause-resume.tsx';
import { QueuePane } from './queue-pane.tsx';

/** A row for each queue. The queues `quarantine` and `unrouted` have no event. */
interface QueueRow extends QueueDepth {
  readonly name: string;
  readonly event?: EventQueueInfo;
}

/** All queues, and next to them the messages of the open queue: `#/queues/<name>`. */
export function QueuesView() {
  const [opened] = route.value.path;
  const { value, error } = queues.value;
  const pausing = useSignal<string | undefined>(undefined);
  const pause = (event: string) => {
    pausing.value = event;
  };
  const isUnknown = value?.pausesUnknown === true;
  const isOpen = opened !== undefined;
  const named = isOpen ? namedQueue(opened) : undefined;
  const openedEvent = value?.events.find(({ event }) => event === named?.event);
  return (
    <>
      <Split
        detailLabel={isOpen ? `Messages of ${opened}` : ''}
        detail={
          isOpen ? (
            <QueuePane key={opened} name={opened} queue={openedEvent}>
              {openedEvent !== undefined && (
                <div class="row">
                  <div class="grow">
                    <Processing queue={openedEvent} isUnknown={isUnknown} />
                  </div>
                  <PauseOrResume
                    queue={openedEvent}
                    isUnknown={isUnknown}
                    onPause={() => pause(openedEvent.event)}
                  />
                </div>
              )}
            </QueuePane>
          ) : undefined
        }
      >
        <div class="page">
          <div class="stack">
            {!stack.local && (
              <div class="row">
                <p class="soft grow">Read once a minute, and after commands that change a queue</p>
                <Refresh of={queues.value} />
              </div>
            )}
            <ErrorNote>{error}</ErrorNote>
            {value === undefined && error === undefined && <Loading />}
            {value !== undefined && (
              <>
                <Problems problems={value.problems} />
                <Table
                  label="Queues"
                  columns={columnsOf(value, isOpen, pause)}
                  rows={rowsOf(value)}
                  idOf={({ name }) => name}
                  current={named?.event ?? opened}
                />
                <p class="soft prose">
                  A message waits on the queue of its event until the consumer has processed it. An event that
                  fails ten times, or can never succeed, becomes a dead letter. Quarantine holds signed
                  requests that are not valid events. Unrouted holds events of an unknown kind.
                </p>
              </>
            )}
          </div>
        </div>
      </Split>
      {pausing.value !== undefined && (
        <PauseDialog
          event={pausing.value}
          onClose={() => {
            pausing.value = undefined;
          }}
        />
      )}
    </>
  );
}

const rowsOf = ({ events, receiverQueues }: QueuesInfo): QueueRow[] => [
  ...events.map((queue) => ({ ...queue, name: queue.event, event: queue })),
  ...receiverQueues,
];

/** @param isOpen whether a queue's messages are shown next to the table, which is then narrower */
function columnsOf(
  { pausesUnknown }: QueuesInfo,
  isOpen: boolean,
  pause: (event: string) => void,
): TableColumn<QueueRow>[] {
  const isUnknown = pausesUnknown === true;
  const number = { end: true, width: isOpen ? 'auto' : 'minmax(auto, 96px)' };
  const all: TableColumn<QueueRow>[] = [
    {
      name: 'queue',
      heading: 'Queue',
      width: isOpen ? 'minmax(0, max-content)' : 'minmax(max-content, 1fr)',
      cell: ({ name }) => (
        <a class="row-link" href={queueAddress(name)}>
          {name}
        </a>
      ),
    },
    { ...number, name: 'waiting', heading: 'Waiting', cell: ({ visible }) => <Quantity of={visible} /> },
    {
      ...number,
      name: 'in-flight',
      heading: 'In flight',
      cell: ({ inFlight }) => <Quantity of={inFlight} />,
    },
    {
      ...number,
      name: 'oldest',
      heading: 'Oldest',
      cell: ({ oldestAt }) => (oldestAt === undefined ? <Dash /> : <Age at={oldestAt} suffix="" />),
    },
    { ...number, name: 'dead', heading: 'Dead letters', cell: deadLetterCell },
    {
      name: 'processing',
      heading: 'Processing',
      width: isOpen ? 'auto' : 'minmax(0, 2fr)',
      cell: (row) => {
        if (row.event !== undefined) {
          return <Processing queue={row.event} isUnknown={isUnknown} isShort={isOpen} />;
        }
        return row.visible + row.inFlight > 0 ? (
          <Badge tone="bad">{OUTCOME_WORDS['needs-you']}</Badge>
        ) : (
          <Dash />
        );
      },
    },
    {
      name: 'act',
      heading: 'Pause or resume',
      hidesHeading: true,
      end: true,
      cell: ({ event }) =>
        event !== undefined && (
          <PauseOrResume queue={event} isUnknown={isUnknown} onPause={() => pause(event.event)} />
        ),
    },
  ];
  const shown = ['queue', 'waiting', 'dead', 'processing'];
  return isOpen ? all.filter(({ name }) => shown.includes(name)) : all;
}

const Dash = () => <span class="faint">–</span>;

function deadLetterCell({ event: queue }: QueueRow) {
  if (queue === undefined) return <Dash />;
  const count = queue.dead.visible + queue.dead.inFlight;
  if (count === 0) return <Quantity of={0} />;
  return (
    <a
      class="count tone-bad"
      href={deadLetterAddress(queue.event)}
      aria-label={`${count} dead letters of ${queue.event}`}
    >
      {count.toLocaleString('en')}
    </a>
  );
}

interface ProcessingProps {
  queue: EventQueueInfo;
  isUnknown: boolean;
  /** Whether to show one word only. */
  isShort?: boolean;
}

function Processing({ queue: { paused, pausing }, isUnknown, isShort = false }: ProcessingProps) {
  if (paused === undefined) return <span class="soft">{isUnknown ? 'Unknown' : 'Active'}</span>;
  const { since, by, reason } = paused;
  return (
    <>
      <Badge tone="warning">{pausing ? 'Pausing …' : 'Paused'}</Badge>{' '}
      {!isShort && (
        <>
          <span class="soft" title={by}>
            {since === undefined ? 'Its event source was turned off by hand.' : <Age at={since} />}
            {by !== undefined && ` by ${callerName(by)}`}
          </span>
          {reason !== undefined && (
            <p>
              <Visible text={reason} />
            </p>
          )}
        </>
      )}
    </>
  );
}
