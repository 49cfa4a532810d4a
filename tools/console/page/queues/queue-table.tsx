import type { EventInfo, EventQueue, KeptQueue, QueueDepth, Queues } from '../../api.ts';
import { Age } from '../shared/age.tsx';
import { Badge } from '../shared/badge.tsx';
import { formatRoute } from '../shell/route.ts';
import { ActButton } from '../tasks/act-button.tsx';
import { callerName, deadName, namedQueue } from './queue-names.ts';

type EventName = EventInfo['name'];

interface QueueTableProps {
  queues: Queues;
  /** Name of the queue that is opened. */
  selected: string | undefined;
  refusal: string | undefined;
  busy: boolean;
  onPause: (event: EventName) => void;
  onResume: (event: EventName) => void;
}

export function QueueTable({ queues, selected, ...acts }: QueueTableProps) {
  const opened = selected === undefined ? undefined : namedQueue(selected);
  return (
    <table class="table queue-table">
      <caption class="visually-hidden">Queues, refreshed every two seconds</caption>
      <thead>
        <tr>
          <th scope="col">Queue</th>
          <th scope="col" class="number">
            Waiting
          </th>
          <th scope="col" class="number">
            In flight
          </th>
          <th scope="col" class="number">
            Oldest
          </th>
          <th scope="col" class="number">
            Dead letters
          </th>
          <th scope="col">Processing</th>
          <th scope="col">
            <span class="visually-hidden">Pause or resume</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {queues.events.map((queue) => (
          <EventRow
            key={queue.event}
            queue={queue}
            isUnknown={queues.pausesUnknown === true}
            opened={opened?.event === queue.event ? (opened.isDead ? 'dead' : 'queue') : undefined}
            {...acts}
          />
        ))}
      </tbody>
      <tbody class="table-group">
        {queues.kept.map((queue) => (
          <KeptRow key={queue.name} queue={queue} opened={selected === queue.name} />
        ))}
      </tbody>
    </table>
  );
}

interface EventRowProps extends Pick<QueueTableProps, 'refusal' | 'busy' | 'onPause' | 'onResume'> {
  queue: EventQueue;
  /** Whether it is paused is not known. */
  isUnknown: boolean;
  opened: 'queue' | 'dead' | undefined;
}

function EventRow({ queue, isUnknown, opened, refusal, busy, onPause, onResume }: EventRowProps) {
  const { event, dead, paused, pausing } = queue;
  const deadCount = dead.visible + dead.inFlight;
  return (
    <tr class={opened === undefined ? undefined : 'is-selected'}>
      <th scope="row">
        <a
          class="row-link"
          href={formatRoute({ view: 'queues', path: [event] })}
          aria-current={opened === 'queue' ? 'true' : undefined}
        >
          {event}
        </a>
      </th>
      <Depth depth={queue} />
      <td class="number">
        {deadCount === 0 ? (
          <span class="nothing">0</span>
        ) : (
          <a
            class="count tone-bad"
            href={formatRoute({ view: 'queues', path: [deadName(event)] })}
            aria-label={`${deadCount} dead letters of ${event}`}
            aria-current={opened === 'dead' ? 'true' : undefined}
          >
            {deadCount.toLocaleString('en')}
          </a>
        )}
      </td>
      <td class="processing">
        {paused === undefined ? (
          <span class="soft">{isUnknown ? 'Not known' : 'On'}</span>
        ) : (
          <>
            <Badge tone="warning">{pausing ? 'Pausing …' : 'Paused'}</Badge>{' '}
            <span class="soft" title={paused.by}>
              {paused.since !== undefined && <Age at={paused.since} suffix=" ago" />}
              {paused.by !== undefined && ` by ${callerName(paused.by)}`}
            </span>
            {paused.reason !== undefined && <p class="reason">{paused.reason}</p>}
            {paused.since === undefined && <p class="reason">Its event source was turned off by hand.</p>}
          </>
        )}
      </td>
      <td class="act">
        {(paused === undefined || isUnknown) && (
          <ActButton
            kind="quiet"
            refusal={refusal}
            busy={busy}
            label={`Pause ${event}`}
            onClick={() => onPause(event)}
          >
            Pause
          </ActButton>
        )}
        {(paused !== undefined || isUnknown) && (
          <ActButton
            kind={isUnknown ? 'quiet' : 'normal'}
            refusal={refusal}
            busy={busy}
            label={`Resume ${event}`}
            onClick={() => onResume(event)}
          >
            Resume
          </ActButton>
        )}
      </td>
    </tr>
  );
}

function KeptRow({ queue, opened }: { queue: KeptQueue; opened: boolean }) {
  const { name } = queue;
  return (
    <tr class={opened ? 'is-selected' : undefined}>
      <th scope="row">
        <a
          class="row-link"
          href={formatRoute({ view: 'queues', path: [name] })}
          aria-current={opened ? 'true' : undefined}
        >
          {name}
        </a>
      </th>
      <Depth depth={queue} />
      <td />
      <td class="processing soft" colSpan={2}>
        Waits for somebody to look
      </td>
    </tr>
  );
}

function Depth({ depth: { visible, inFlight, oldestAt } }: { depth: QueueDepth }) {
  return (
    <>
      <Count of={visible} />
      <Count of={inFlight} />
      <td class="number">
        {oldestAt === undefined ? <span class="nothing">–</span> : <Age at={oldestAt} />}
      </td>
    </>
  );
}

/** Nothing stands back, so that what is there is seen. */
function Count({ of: count }: { of: number }) {
  return <td class="number">{count === 0 ? <span class="nothing">0</span> : count.toLocaleString('en')}</td>;
}
