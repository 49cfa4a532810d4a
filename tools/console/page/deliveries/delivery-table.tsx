import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Delivery, DeliveryState } from '../../../stage/history/history.ts';
import { skipText, stateTitle } from '../../../stage/history/state-text.ts';
import type { PayloadSearch } from '../../api.ts';
import { route } from '../route.ts';
import { connection, rows as stored } from '../store.ts';
import { Visible } from '../text/visible.tsx';
import { Badge, type BadgeTone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { isNarrow } from '../ui/is-narrow.ts';
import { Table, type TableColumn, type TableProps } from '../ui/table.tsx';
import { clockText, dayText, durationText, Time } from '../ui/time.tsx';
import { deliveriesText, held, isThere, listKey, newer, shownRows } from './delivery-rows.ts';
import { isFiltered } from './list-filter.ts';
import { type OutcomeGroup, outcomeOf } from './outcomes.ts';

/** Row heights in pixels. On a narrow page a row has two lines. Must match the stylesheet. */
const ONE_LINE = 32;
const TWO_LINES = 56;

/** Pixels per character of a time and of a shop. */
const CHARACTER = { time: 7.4, shop: 7.8 };

/** Width of a list in pixels that has space for most columns. */
const WIDE = 860;

/** Maximum characters of a shop. A UUID with a prefix has about 41. */
const SHOP_LENGTH = { wide: 42, narrow: 12 };

interface DeliveryTableProps extends Omit<TableProps<Delivery>, 'label' | 'columns' | 'idOf' | 'element'> {
  element: RefObject<HTMLDivElement | null>;
}

/** The rows of deliveries. Only visible rows are drawn. */
export function DeliveryTable(props: DeliveryTableProps) {
  const { element, rows } = props;
  /** The largest `from` that the list is wide enough for. */
  const from = useSignal(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0;
      // A hidden list has no width and keeps its layout.
      if (width === 0) return;
      from.value = Math.max(...COLUMNS.map((column) => column.from).filter((least) => least <= width));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const isTight = isNarrow.value || from.value < WIDE;
  const oldest = rows.at(-1);
  const day = oldest === undefined ? '' : dayText(new Date(oldest.receivedAt), new Date());
  const shopLength = isTight ? SHOP_LENGTH.narrow : SHOP_LENGTH.wide;
  const longestShop = rows.reduce((length, { shopId = '' }) => Math.max(length, shopId.length), 0);
  const widths: Readonly<Record<string, string>> = {
    time: `${Math.ceil((day.length + 8) * CHARACTER.time)}px`,
    shop: `minmax(64px, ${Math.ceil(Math.min(longestShop, shopLength) * CHARACTER.shop)}px)`,
  };
  return (
    <Table
      {...props}
      label="Deliveries, newest first"
      class={`deliveries-table${isNarrow.value ? ' has-two-lines' : ''}${isTight ? ' is-tight' : ''}`}
      columns={COLUMNS.filter((column) => isNarrow.value || column.from <= from.value).map((column) => ({
        ...column,
        width: column.width ?? widths[column.name] ?? 'auto',
      }))}
      idOf={({ id }) => id}
      nameOf={nameOf}
      rowHeight={isNarrow.value ? TWO_LINES : ONE_LINE}
    />
  );
}

const nameOf = ({ event = 'unknown event', shopId, receivedAt }: Delivery) =>
  [event, ...(shopId === undefined ? [] : [shopId]), clockText(new Date(receivedAt))].join(', ');

interface DeliveryColumn extends TableColumn<Delivery> {
  /** Width of the list in pixels from which the column is shown. A row has one line. */
  readonly from: number;
}

const COLUMNS: readonly DeliveryColumn[] = [
  { name: 'time', heading: 'Received', from: 0, cell: ({ receivedAt }) => <Time at={receivedAt} /> },
  {
    name: 'event',
    heading: 'Event',
    from: 0,
    width: 'minmax(0, 148px)',
    cell: ({ event }) => (
      <span class="cut" title={event}>
        {event === undefined ? <span class="soft">unknown event</span> : <Visible text={event} />}
      </span>
    ),
  },
  {
    name: 'state',
    heading: 'State',
    from: 0,
    width: '100px',
    cell: ({ state }) => <StateBadge state={state} />,
  },
  {
    name: 'shop',
    heading: 'Shop',
    from: 440,
    cell: ({ shopId }) =>
      shopId !== undefined && (
        <span class="cut" title={shopId}>
          <Visible text={shopId} />
        </span>
      ),
  },
  {
    name: 'preview',
    heading: 'Error and payload',
    from: 600,
    width: 'minmax(120px, 1fr)',
    cell: (delivery) => <PreviewCell delivery={delivery} />,
  },
  {
    name: 'latency',
    heading: 'Took',
    from: WIDE,
    width: '52px',
    end: true,
    cell: ({ latencyMs }) => latencyMs !== undefined && durationText(latencyMs),
  },
  {
    name: 'attempts',
    heading: 'Attempts',
    from: 940,
    width: '56px',
    end: true,
    cell: ({ attempts }) => attempts > 1 && <span title={`${attempts} attempts`}>{attempts}×</span>,
  },
  { name: 'status', heading: 'Status', from: 780, width: '44px', end: true, cell: ({ status }) => status },
];

/** Red is for what needs somebody. What is done needs no colour. */
const TONES: Readonly<Record<OutcomeGroup, BadgeTone | undefined>> = {
  'needs-you': 'bad',
  rejected: 'warning',
  'in-progress': 'info',
  done: undefined,
};

export function StateBadge({ state }: { state: DeliveryState }) {
  const tone = TONES[outcomeOf(state)];
  const { title } = stateTitle(state);
  return tone === undefined ? <span class="soft">{title}</span> : <Badge tone={tone}>{title}</Badge>;
}

/** Why it failed or needed no effect, then what it is about or where the search found its text. */
function PreviewCell({ delivery }: { delivery: Delivery }) {
  const { state, reason, error, match } = delivery;
  const why = reason === undefined ? error : skipText(reason);
  const tone = outcomeOf(state) === 'needs-you' ? ' bad' : '';
  return (
    <>
      {why !== undefined && (
        <span class={`why cut${tone}${match === undefined ? '' : ' is-less'}`} title={why}>
          <Visible text={why} />
        </span>
      )}
      <span class={`preview cut mono soft${why !== undefined && match === undefined ? ' is-less' : ''}`}>
        {match === undefined ? (
          <Visible text={previewText(delivery)} />
        ) : (
          <>
            <span class="before">
              <Visible text={match[0]} />
            </span>
            <mark>
              <Visible text={match[1]} />
            </mark>
            <Visible text={match[2]} />
          </>
        )}
      </span>
    </>
  );
}

/** Without the shop, which has its own column. */
function previewText({ preview = '', shopId }: Delivery): string {
  const shop = `"shop_id":${JSON.stringify(shopId)}`;
  return preview.replace(`${shop},`, '').replace(`,${shop}}`, '}');
}

/** Milliseconds between two screen reader announcements of new deliveries. */
const ANNOUNCED_EVERY = 5_000;

/** Line below the list: the number of deliveries, how far payloads were searched, and whether the list is live. */
export function Summary({ onFollow }: { onFollow: () => void }) {
  const { searched } = stored.value;
  const { length } = shownRows.value;
  return (
    <footer class="list-summary row">
      <span>{countText(length)}</span>
      {searched !== undefined && (
        <span
          class="cut"
          title={`${searched.objects.toLocaleString('en')} archive objects, none older than ${searched.since}`}
        >
          {searchText(searched)}
        </span>
      )}
      {held.value === undefined ? (
        <span class="end">Follows new deliveries</span>
      ) : (
        <Button kind="quiet" class="follow" keyHint="n" onClick={onFollow}>
          List held. Follow
        </Button>
      )}
      {/* Deliveries that appear with another filter are not new, so each list has its own. */}
      {isThere.value && <Announcement key={listKey.value} count={length + newer.value} />}
    </footer>
  );
}

function countText(shown: number): string {
  if (connection.value.state === 'refused') return 'Not loaded';
  if (!isThere.value) return 'Loading …';
  const verb = shown === 1 ? 'matches' : 'match';
  return `${deliveriesText(shown)}${isFiltered(route.value.query) ? ` ${verb}` : ''}`;
}

function searchText({ refused, records, limited }: PayloadSearch): string {
  if (refused !== undefined) return `Payloads not searched: ${refused}`;
  return `${records.toLocaleString('en')} payloads searched${limited ? ', not all' : ''}`;
}

function Announcement({ count }: { count: number }) {
  const text = useSignal('');
  const latest = useRef(count);
  latest.current = count;
  useEffect(() => {
    let announced = latest.current;
    const timer = setInterval(() => {
      const more = latest.current - announced;
      announced = latest.current;
      text.value = more > 0 ? `${more} new ${more === 1 ? 'delivery' : 'deliveries'}` : '';
    }, ANNOUNCED_EVERY);
    return () => clearInterval(timer);
  }, []);
  return (
    <span class="visually-hidden" aria-live="polite">
      {text}
    </span>
  );
}
