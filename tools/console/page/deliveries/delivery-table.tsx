import { signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import { skipText, stateTitle } from '../../../stage/history/state-text.ts';
import { Visible } from '../text/visible.tsx';
import { Badge } from '../ui/badge.tsx';
import type { TableColumn } from '../ui/table.tsx';
import { Time, timeText } from '../ui/time.tsx';

/** Page width below which views are stacked. Must match the stylesheets. */
const NARROW = matchMedia('(max-width: 760px)');

const isNarrow = signal(NARROW.matches);

NARROW.addEventListener('change', () => {
  isNarrow.value = NARROW.matches;
});

/** Row heights in pixels. Beside a detail, and on a narrow page, a row has two lines. */
const ONE_LINE = 32;
const TWO_LINES = 52;

/** Number of rows drawn beyond the visible ones at each end, so that fast scrolling shows no gaps. */
const OVERSCAN = 10;

const COLUMNS: readonly TableColumn<Delivery>[] = [
  { name: 'time', heading: 'Received', cell: ({ receivedAt }) => <Time at={receivedAt} /> },
  {
    name: 'event',
    heading: 'Event',
    cell: ({ event, claimed }) =>
      event === undefined ? (
        <span class="cut soft">unknown event</span>
      ) : (
        <Name of={event} claimed={claimed} />
      ),
  },
  {
    name: 'shop',
    heading: 'Shop',
    cell: ({ shopId, claimed }) => shopId !== undefined && <Name of={shopId} claimed={claimed} />,
  },
  {
    name: 'state',
    heading: 'State',
    cell({ state }) {
      const { title, tone } = stateTitle(state);
      const isQuiet = tone === 'good' || tone === 'neutral';
      return isQuiet ? <span class="soft">{title}</span> : <Badge tone={tone}>{title}</Badge>;
    },
  },
  { name: 'preview', heading: 'Error and payload', cell: (delivery) => <Preview delivery={delivery} /> },
];

interface DeliveryTableProps {
  element: RefObject<HTMLDivElement | null>;
  rows: readonly Delivery[];
  /** Id of the open delivery. */
  current: string | undefined;
  onOpen: (id: string) => void;
  onScroll: (scrollTop: number) => void;
}

/** The table of deliveries. Only visible rows are in the document. */
export function DeliveryTable({ element, rows, current, onOpen, onScroll }: DeliveryTableProps) {
  const hasTwoLines = isNarrow.value || current !== undefined;
  const height = hasTwoLines ? TWO_LINES : ONE_LINE;
  const open = current === undefined ? -1 : rows.findIndex(({ id }) => id === current);
  const top = useSignal(0);
  const shown = Math.ceil(Math.max(screen.height, innerHeight) / height);
  const first = Math.max(0, Math.min(top.value, rows.length - shown) - OVERSCAN);
  const drawn = rows.slice(first, top.value + shown + OVERSCAN).map((row, at) => [row, first + at] as const);
  const openRow = rows[open];
  // The open row is always in the document, because a screen reader finds it by its id.
  if (openRow !== undefined && !drawn.some(([, at]) => at === open)) drawn.push([openRow, open]);
  useOpenRowInPlace(element, open, height);
  const oldest = rows.at(-1);
  return (
    <div
      ref={element}
      role="grid"
      class={`deliveries-table ${hasTwoLines ? 'has-two-lines' : ''}`}
      style={{ '--time': `${oldest === undefined ? 8 : timeText(oldest.receivedAt).length}ch` }}
      aria-label="Deliveries, newest first"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={openRow === undefined ? undefined : rowId(openRow)}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop } }) => {
        top.value = Math.floor(scrollTop / height);
        onScroll(scrollTop);
      }}
      onClick={({ target }) => {
        const row = target instanceof Element && target.closest<HTMLElement>('[data-id]');
        if (row && row.dataset.id !== undefined) onOpen(row.dataset.id);
      }}
    >
      <div role="rowgroup" class={`thead ${hasTwoLines ? 'visually-hidden' : ''}`}>
        <div role="row" class="tr" aria-rowindex={1}>
          {COLUMNS.map(({ name, heading }) => (
            <span key={name} role="columnheader" class={`td col-${name}`}>
              {heading}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="tbody" style={{ height: `${rows.length * height}px` }}>
        {drawn.map(([row, at]) => (
          <div
            key={row.id}
            id={rowId(row)}
            role="row"
            class={`tr opens ${at === open ? 'is-current' : ''}`}
            aria-rowindex={at + 2}
            aria-selected={at === open}
            data-id={row.id}
            style={{ transform: `translateY(${at * height}px)`, height: `${height}px` }}
          >
            {COLUMNS.map(({ name, cell }) => (
              <span key={name} role="gridcell" class={`td col-${name}`}>
                {cell(row)}
              </span>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

const rowId = ({ id }: Delivery) => `delivery-${id}`;

/** Scrolls so that the open row stays where it was when rows change their height, and is visible when it changes. */
function useOpenRowInPlace(element: RefObject<HTMLElement | null>, open: number, height: number): void {
  const before = useRef({ row: 0, height });
  useLayoutEffect(() => {
    const list = element.current;
    if (list === null) return;
    const row = open === -1 ? before.current.row : open;
    if (height !== before.current.height) list.scrollTop += row * (height - before.current.height);
    before.current = { row, height };
    if (open !== -1) list.querySelector('.is-current')?.scrollIntoView({ block: 'nearest' });
    // New rows are no reason to scroll: a user who has scrolled away from the open row stays there.
  }, [open, height]);
}

/** @param claimed whether the signature of the request is not valid */
const Name = ({ of, claimed }: { of: string; claimed: true | undefined }) => (
  <span class={claimed ? 'cut soft' : 'cut'} title={claimed ? `${of}: not verified` : of}>
    <Visible text={of} />
  </span>
);

/** Why the delivery had no effect, then the beginning of its data. */
function Preview({ delivery }: { delivery: Delivery }) {
  const { state, reason, error, preview = '', shopId } = delivery;
  const why = reason === undefined ? error : skipText(reason);
  const shop = `"shop_id":${JSON.stringify(shopId)}`;
  return (
    <span class="cut" title={why}>
      {why !== undefined && (
        <span class={`toned tone-${stateTitle(state).tone}`}>
          <Visible text={why} />{' '}
        </span>
      )}
      <span class="mono soft">
        {/* Without the shop, which has its own column. */}
        <Visible text={preview.replace(`${shop},`, '').replace(`,${shop}}`, '}')} />
      </span>
    </span>
  );
}
