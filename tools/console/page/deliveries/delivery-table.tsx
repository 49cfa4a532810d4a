import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import { skipText, stateTitle } from '../../../stage/history/state-text.ts';
import type { PayloadSearch } from '../../api.ts';
import { rows as stored } from '../store.ts';
import { Visible } from '../text/visible.tsx';
import { Badge } from '../ui/badge.tsx';
import { Table, type TableColumn } from '../ui/table.tsx';
import { clockText, dayText, durationText, Time } from '../ui/time.tsx';

/** List width in pixels below which a row has two lines, and row heights in pixels. Must match the stylesheet. */
const NARROW = 720;
const ONE_LINE = 32;
const TWO_LINES = 52;

/** Pixels per character of a time. */
const CHARACTER = 7.4;

interface DeliveryTableProps {
  element: RefObject<HTMLDivElement | null>;
  rows: readonly Delivery[];
  selected: string | undefined;
  checked: ReadonlySet<string>;
  onSelect: (id: string) => void;
  onEnter: () => void;
  onCheck: (ids: ReadonlySet<string>) => void;
  onScroll: (scrollTop: number) => void;
}

/** The rows of deliveries. Only visible rows are drawn. */
export function DeliveryTable({
  element,
  rows,
  selected,
  checked,
  onSelect,
  onEnter,
  onCheck,
  onScroll,
}: DeliveryTableProps) {
  const [isNarrow, setIsNarrow] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0;
      // A hidden list has no width and keeps its layout.
      if (width > 0) setIsNarrow(width < NARROW);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const oldest = rows.at(-1);
  const day = oldest === undefined ? '' : dayText(new Date(oldest.receivedAt), new Date());
  return (
    <Table
      label="Deliveries, newest first"
      class={`deliveries-table${isNarrow ? ' has-two-lines' : ''}`}
      element={element}
      columns={columnsOf(day.length + 8)}
      rows={rows}
      idOf={({ id }) => id}
      nameOf={nameOf}
      current={selected}
      rowHeight={isNarrow ? TWO_LINES : ONE_LINE}
      checked={checked}
      onCheck={onCheck}
      onOpen={onSelect}
      onEnter={onEnter}
      onScroll={onScroll}
    />
  );
}

const nameOf = ({ event = 'unknown event', shopId, receivedAt }: Delivery) =>
  [event, ...(shopId === undefined ? [] : [shopId]), clockText(new Date(receivedAt))].join(', ');

/** @param timeLength characters of the longest time */
const columnsOf = (timeLength: number): readonly TableColumn<Delivery>[] => [
  {
    name: 'time',
    heading: 'Received',
    width: `${Math.ceil(timeLength * CHARACTER)}px`,
    cell: ({ receivedAt }) => <Time at={receivedAt} />,
  },
  {
    name: 'event',
    heading: 'Event',
    width: 'minmax(0, 168px)',
    cell: ({ event }) => (
      <span class="cut" title={event}>
        {event === undefined ? <span class="soft">unknown event</span> : <Visible text={event} />}
      </span>
    ),
  },
  {
    name: 'state',
    heading: 'State',
    width: '104px',
    cell: ({ state }) => {
      const { title, tone } = stateTitle(state);
      return <Badge tone={tone}>{title}</Badge>;
    },
  },
  {
    name: 'shop',
    heading: 'Shop',
    width: 'minmax(0, 1fr)',
    cell: ({ shopId }) =>
      shopId !== undefined && (
        <span class="cut" title={shopId}>
          <Visible text={shopId} />
        </span>
      ),
  },
  {
    name: 'outcome',
    heading: 'Time or error',
    width: 'minmax(0, 3fr)',
    cell: (delivery) => <OutcomeCell delivery={delivery} />,
  },
  {
    name: 'attempts',
    heading: 'Attempts',
    width: '60px',
    end: true,
    cell: ({ attempts }) => attempts > 1 && <span title={`${attempts} attempts`}>{attempts}×</span>,
  },
  { name: 'status', heading: 'Status', width: '44px', end: true, cell: ({ status }) => status },
];

function OutcomeCell({ delivery: { reason, error, latencyMs } }: { delivery: Delivery }) {
  if (reason !== undefined) return <span class="cut">{skipText(reason)}</span>;
  if (latencyMs !== undefined) return <span class="cut">{durationText(latencyMs)}</span>;
  if (error === undefined) return null;
  return (
    <span class="cut is-error" title={error}>
      <Visible text={error} />
    </span>
  );
}

/** Milliseconds between two screen reader announcements of new deliveries. */
const ANNOUNCED_EVERY = 5_000;

interface SummaryProps {
  shown: number;
  newer: number;
  ready: boolean;
  refused: boolean;
  filtered: boolean;
  paused: boolean;
}

/** Line below the list: the number of deliveries, how far payloads were searched, and whether the list is live. */
export function Summary({ shown, newer, ready, refused, filtered, paused }: SummaryProps) {
  const { searched } = stored.value;
  const matching = filtered ? (shown === 1 ? ' matches' : ' match') : '';
  return (
    <footer class="list-summary row">
      <span>{refused ? 'Not loaded' : ready ? `${deliveriesText(shown)}${matching}` : 'Loading …'}</span>
      {searched !== undefined && (
        <span
          class="cut"
          title={`${searched.objects.toLocaleString('en')} archive objects, none older than ${searched.since}`}
        >
          {searchText(searched)}
        </span>
      )}
      <span class="end" title={paused ? 'The list stays as it is. Press n to follow.' : undefined}>
        {paused ? 'Paused' : 'Live'}
      </span>
      <Announcement count={shown + newer} ready={ready} />
    </footer>
  );
}

/** `1 delivery`, `1,200 deliveries`. */
export const deliveriesText = (count: number) =>
  `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`;

function searchText({ refused, records, limited }: PayloadSearch): string {
  if (refused !== undefined) return `Payloads not searched: ${refused}`;
  return `${records.toLocaleString('en')} payloads searched${limited ? ', not all' : ''}`;
}

function Announcement({ count, ready }: { count: number; ready: boolean }) {
  const [text, setText] = useState('');
  const latest = useRef(count);
  const announced = useRef(count);
  const wasReady = useRef(ready);
  latest.current = count;
  // Deliveries that existed at the start, or that appear with another filter, are not new.
  if (!ready || !wasReady.current) announced.current = count;
  wasReady.current = ready;
  useEffect(() => {
    const timer = setInterval(() => {
      const more = latest.current - announced.current;
      announced.current = latest.current;
      setText(more > 0 ? `${more} new ${more === 1 ? 'delivery' : 'deliveries'}` : '');
    }, ANNOUNCED_EVERY);
    return () => clearInterval(timer);
  }, []);
  return (
    <span class="visually-hidden" aria-live="polite">
      {text}
    </span>
  );
}
