import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { DetailPane } from '../detail/detail-pane.tsx';
import { Editor, editBody } from '../editor/editor.tsx';
import { filterBy, route } from '../route.ts';
import { stack } from '../store.ts';
import { withTimestamp } from '../text/format-json.ts';
import { Empty } from '../ui/badge.tsx';
import { Button, Icon } from '../ui/button.tsx';
import { Menu } from '../ui/menu.tsx';
import { Time } from '../ui/time.tsx';
import { useKeys } from '../use-keys.tsx';
import { useRun } from '../use-run.tsx';
import {
  closeDelivery,
  follow,
  isStopped,
  isThere,
  listKey,
  newer,
  openDelivery,
  outcome,
  search,
  shownRows,
  stop,
} from './delivery-rows.ts';
import { DeliveryTable } from './delivery-table.tsx';
import { Filters } from './filters.tsx';

/** The view of deliveries, with the detail of the open one: `#/deliveries/<id>?<filters>`. */
export function DeliveriesView() {
  const current = route.value.id;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => follow, []);
  // Waits for the row of the open delivery, which may not be loaded yet.
  const isCurrentThere = isThere.value && shownRows.value.some(({ id }) => id === current);
  useEffect(() => {
    if (isCurrentThere) stop();
    else if (current === undefined && (list.current?.scrollTop ?? 0) === 0) follow();
  }, [current, isCurrentThere, listKey.value]);
  useLayoutEffect(() => list.current?.scrollTo({ top: 0 }), [listKey.value]);
  const followNewest = () => {
    follow();
    list.current?.scrollTo({ top: 0 });
    list.current?.focus({ preventScroll: true });
  };
  useListKeys(list, followNewest);
  const isFiltered = search.value !== '' || outcome.value !== undefined;
  return (
    <>
      <div class={current === undefined ? 'split' : 'split is-open'}>
        <section aria-label="List of deliveries">
          <div class="list-tools row">
            <Filters onLeave={() => list.current?.focus()} />
            <SendMenu />
          </div>
          <div class={isThere.value ? 'list-frame' : 'list-frame is-stale'} aria-busy={!isThere.value}>
            {shownRows.value.length === 0 && isThere.value ? (
              <Nothing isFiltered={isFiltered} />
            ) : (
              <DeliveryTable
                element={list}
                rows={shownRows.value}
                current={current}
                onOpen={openDelivery}
                onScroll={(scrollTop) => {
                  if (scrollTop > 0) stop();
                  else if (current === undefined) follow();
                }}
              />
            )}
          </div>
          <Summary isFiltered={isFiltered} onFollow={followNewest} />
        </section>
        {current !== undefined && <DetailPane id={current} />}
      </div>
      <Editor />
    </>
  );
}

const sends = (event = '') => ({
  argv: ['send', event],
  does: `Sends a sample of ${event}.`,
  did: 'Sent.',
});

/** Menu to send a sample of any event, or a body that the user writes. */
function SendMenu() {
  const { start, refusal } = useRun();
  const samples = stack.events.map(({ name, meaning }) => ({
    label: <code>{name}</code>,
    note: meaning,
    refusal,
    onChoose: () => start([sends(name)]),
  }));
  const write = {
    label: 'Write a body …',
    refusal,
    onChoose: () => editBody('Write a body', withTimestamp(stack.sample) ?? stack.sample),
  };
  const button = (
    <>
      Send <Icon name="down" />
    </>
  );
  return <Menu button={button} items={stack.local ? [...samples, write] : samples} />;
}

const ClearButton = () => (
  <Button onClick={() => filterBy({ search: '', outcome: '' })}>Clear filters</Button>
);

/** In place of an empty list. */
function Nothing({ isFiltered }: { isFiltered: boolean }) {
  const { start, ...state } = useRun();
  if (isFiltered) {
    return (
      <Empty title="No delivery matches">
        <ClearButton />
      </Empty>
    );
  }
  if (stack.since !== undefined) {
    return (
      <Empty title="No deliveries">
        <p>
          None arrived since <Time at={stack.since} />. Logs arrive some seconds late.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No deliveries yet">
      <p>The receiver verifies and queues an event, a consumer processes it, and you see each step here.</p>
      <Button {...state} kind="primary" onClick={() => start([sends(stack.events[0]?.name)])}>
        Send the first event
      </Button>
    </Empty>
  );
}

/** Line below the list: the number of deliveries, how far back they go, and whether the list is stopped. */
function Summary({ isFiltered, onFollow }: { isFiltered: boolean; onFollow: () => void }) {
  const { length } = shownRows.value;
  const noun = length === 1 ? 'delivery' : 'deliveries';
  const verb = length === 1 ? ' matches' : ' match';
  const count = `${length.toLocaleString('en')} ${noun}${isFiltered ? verb : ''}`;
  return (
    <footer class="list-summary row nowrap">
      <span>{isThere.value ? count : 'Loading …'}</span>
      {stack.since !== undefined && (
        <span class="cut">
          Since <Time at={stack.since} />. Older: npx hookctl trace --search
        </span>
      )}
      {isFiltered && length > 0 && <ClearButton />}
      {isStopped.value ? (
        <Button kind={newer.value > 0 ? 'primary' : 'quiet'} keyHint="n" onClick={onFollow}>
          {newer.value > 0 ? `Show ${newer.value.toLocaleString('en')} new` : 'Stopped. Follow'}
        </Button>
      ) : (
        <span>Following</span>
      )}
    </footer>
  );
}

function useListKeys(list: RefObject<HTMLElement | null>, followNewest: () => void): void {
  const move = (step: number) => () => {
    const rows = shownRows.peek();
    const index = rows.findIndex(({ id }) => id === route.peek().id);
    const row = rows[Math.max(0, Math.min(rows.length - 1, index + step))];
    if (row === undefined) return false;
    openDelivery(row.id);
    // The list receives Enter. A narrow page shows the detail instead of the list.
    list.current?.focus({ preventScroll: true });
    return true;
  };
  /** Other parts of the page handle these keys themselves. What contains the list does not: a view's key focuses it. */
  const inList = (action: () => unknown) => (event: KeyboardEvent) =>
    event.target instanceof Element && event.target.contains(list.current) && action();
  useKeys('list', {
    j: move(1),
    k: move(-1),
    ArrowDown: inList(move(1)),
    ArrowUp: inList(move(-1)),
    Enter: inList(() => document.querySelector<HTMLElement>('#detail')?.focus()),
    n: followNewest,
    Escape: () => (route.peek().id === undefined ? followNewest() : closeDelivery()),
  });
}
