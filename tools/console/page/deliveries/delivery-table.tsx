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
import { deliveriesText, frozen, isThere, listKey, newer, shownRows } from './delivery-rows.ts';
import { isFiltered } from './list-filter.ts';
import { type OutcomeGroup, outcomeOf } from './outcomes.ts';

/** Row heights in pixels. A row has two lines on a narrow page. Must match the stylesheet. */
const ONE_LINE = 32;
const TWO_LINES = 56;

/** Pixels per character in the columns of the time and the shop. */
const CHARACTER = { time: 7.4, shop: 7.8 };

/** Width of the list in pixels from which shops are shown in full. */
const WIDE = 860;

/** Maximum characters of a shop. A UUID with a prefix has about 41. */
const SHOP_LENGTH = { wide: 42, narrow: 12 };

interface DeliveryTableProps extends Omit<TableProps<Delivery>, 'label' | 'columns' | 'idOf' | 'element'> {
  element: RefObject<HTMLDivElement | null>;
}

/** The table of deliveries. Only visible rows are in the document. */
export function DeliveryTable(props: DeliveryTableProps) {
  const { element, rows } = props;
  /** The largest `from` of the columns that fit into the list's width. */
  const from = useSignal(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0;
      // A list behind a detail is hidden and has no width. It keeps the columns that it had.
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
  /**
   * Width of the list in pixels from which the column is shown. Narrower lists leave it out, because a row
   * has only one line.
   */
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

/** Colour of each outcome. Red is for deliveries that need a person. Finished deliveries need no colour. */
const TONES: Readonly<Record<OutcomeGroup, BadgeTone | undefined>> = {
  'needs-you': 'bad',
  rejected: 'warning',
  'in-progress': 'info',
  done: undefined,
};

function StateBadge({ state }: { state: DeliveryState }) {
  const tone = TONES[outcomeOf(state)];
  const { title } = stateTitle(state);
  return tone === undefined ? <span class="soft">{title}</span> : <Badge tone={tone}>{title}</Badge>;
}

/**
 * Why the delivery failed or had no effect, then a preview of its payload or the text that the search found.
 */
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

/** The preview without the shop, which has its own column. */
function previewText({ preview = '', shopId }: Delivery): string {
  const shop = `"shop_id":${JSON.stringify(shopId)}`;
  return preview.replace(`${shop},`, '').replace(`,${shop}}`, '}');
}

/** Milliseconds between two screen reader announcements of new deliveries. */
const ANNOUNCED_EVERY = 5_000;

/**
 * Line below the list: the number of deliveries, how far payloads were searched, and whether the list is
 * frozen.
 */
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
      {frozen.value === undefined ? (
        <span class="end">Follows new deliveries</span>
      ) : (
        <Button kind="quiet" class="follow" keyHint="n" onClick={onFollow}>
          List frozen. Follow
        </Button>
      )}
      {/* Each list counts its own new deliveries: those that appear because a filter changed are not new. */}
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
  return `${records.toLocaleString('en')} payloads searched${limited ? ', older ones not' : ''}`;
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
