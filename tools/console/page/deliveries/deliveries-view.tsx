import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { DetailPane } from '../detail/detail-pane.tsx';
import { Icon } from '../shared/icon.tsx';
import { Time } from '../shared/time.tsx';
import { useConsole } from '../shell/context.ts';
import type { Route } from '../shell/route.ts';
import { useKeys } from '../shell/use-keys.ts';
import { currentRoute, navigate } from '../shell/use-route.ts';
import { useLive } from '../stream/use-live.ts';
import { DeliveryList } from './delivery-list.tsx';
import { filterOf, streamQuery } from './filter-query.ts';
import { Filters } from './filters.tsx';
import { FirstEvent } from './first-event.tsx';
import { countNew, type HeldList, holdList, olderThan, rowAfterKey } from './held-list.ts';
import { ListSummary } from './list-summary.tsx';
import { SendMenu } from './send-menu.tsx';
import { useRowHeight } from './use-row-height.ts';
import { WriteDialog } from './write-dialog.tsx';

export function DeliveriesView({ route }: { route: Route }) {
  const { live, stack } = useConsole();
  const { ids, idsOf, ready, total, searched, resets, connection } = useLive();
  const [held, setHeld] = useState<HeldList>();
  const [writes, setWrites] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const rowHeight = useRowHeight();
  const selected = route.path[0];
  const filter = streamQuery(route.query);
  const isFiltered = Object.keys(filterOf(route.query)).length > 0;

  const rows = useMemo(
    () =>
      held === undefined
        ? ids.flatMap((id) => live.delivery(id) ?? [])
        : [
            ...held.rows.map((delivery) => live.delivery(delivery.id) ?? delivery),
            ...olderThan(held, ids).flatMap((id) => live.delivery(id) ?? []),
          ],
    // The rows of a held list change although its ids do not.
    [ids, held, live, live.state],
  );
  const newer = held === undefined ? 0 : countNew(held, ids);

  const follow = () => {
    setHeld(undefined);
    if (list.current !== null) list.current.scrollTop = 0;
  };
  /** The button to the newest hides itself: the focus is not to go with it. */
  const followFromButton = () => {
    follow();
    list.current?.focus();
  };
  // Another filter is another list, and so is that of another process.
  useEffect(follow, [filter, resets]);
  const isThere = ready && idsOf === filter;
  const isRefused = connection.state === 'refused';
  const isSelectedThere = isThere && rows.some(({ id }) => id === selected);
  useEffect(() => {
    if (isSelectedThere) setHeld((before) => before ?? holdList(rows));
  }, [selected, isSelectedThere]);

  const select = (id: string) => {
    const current = currentRoute();
    navigate({ ...current, path: [id] }, { replace: current.path[0] !== undefined });
  };
  /** Whoever sent it may be elsewhere by now. */
  const showSent = (id: string) => {
    const current = currentRoute();
    if (current.view !== 'deliveries') return;
    follow();
    navigate({ ...current, path: [id] });
  };
  const close = () => {
    navigate({ ...currentRoute(), path: [] });
    if ((list.current?.scrollTop ?? 0) === 0) setHeld(undefined);
    list.current?.focus();
  };
  const detail = useRef<HTMLElement>(null);
  const hadSelection = useRef(selected !== undefined);
  useEffect(() => {
    if (hadSelection.current === (selected !== undefined)) return;
    hadSelection.current = selected !== undefined;
    // A narrow page has room for one of the two: the focus goes with what is shown, if it was in what is not.
    const [shown, gone] = selected === undefined ? [list, detail] : [detail, list];
    const { activeElement } = document;
    const wasThere = activeElement === document.body || gone.current?.contains(activeElement);
    if (gone.current?.offsetParent === null && wasThere) shown.current?.focus();
  }, [selected]);
  const move = (event: KeyboardEvent): boolean => {
    const index = rows.findIndex(({ id }) => id === selected);
    const to = rowAfterKey(event.key, index, rows.length, 1);
    const row = to === undefined ? undefined : rows[to];
    if (row === undefined) return false;
    select(row.id);
    return true;
  };
  /** Arrows scroll what has the focus, where that is not the list. */
  const moveFromNowhere = (event: KeyboardEvent) => (event.target === document.body ? move(event) : false);
  useKeys({
    j: move,
    k: move,
    ArrowDown: moveFromNowhere,
    ArrowUp: moveFromNowhere,
    Home: moveFromNowhere,
    End: moveFromNowhere,
    n: follow,
    Escape: () => {
      if (selected === undefined) follow();
      else close();
    },
  });

  const isEmpty = isThere && total === 0 && ids.length === 0 && !isFiltered && selected === undefined;
  const writing = writes && <WriteDialog key="write" onClose={() => setWrites(false)} onSent={showSent} />;
  if (stack.local && isEmpty) {
    return (
      <>
        <FirstEvent key="first" onSent={showSent} onWrite={() => setWrites(true)} />
        {writing}
      </>
    );
  }
  return (
    <>
      <div key="list" class={`deliveries${selected === undefined ? '' : ' has-selection'}`}>
        <h1 class="visually-hidden">Deliveries</h1>
        <section class="list-pane" aria-label="List of deliveries">
          <div class="list-tools">
            <Filters
              query={route.query}
              onChange={(change) => {
                const current = currentRoute();
                navigate({ ...current, query: { ...current.query, ...change } }, { replace: true });
              }}
              onLeave={() => list.current?.focus()}
            />
            <SendMenu onSent={showSent} onWrite={() => setWrites(true)} />
          </div>
          <div class="list-head" aria-hidden="true">
            <span>Time</span>
            <span>Event</span>
            <span>State</span>
            <span>Shop</span>
            <span>Result</span>
            <span class="row-status">Status</span>
          </div>
          <div class={`list-frame${isThere ? '' : ' is-stale'}`} aria-busy={!isThere && !isRefused}>
            <button
              type="button"
              class={`newer${newer > 0 ? ' is-shown' : ''}`}
              tabIndex={newer > 0 ? 0 : -1}
              aria-hidden={newer === 0}
              onClick={followFromButton}
            >
              <Icon name="up" />
              {newer.toLocaleString('en')} new
            </button>
            {isThere && rows.length === 0 && (
              <div class="no-match">
                <p>{isFiltered ? 'No delivery matches.' : <NoDelivery since={stack.since} />}</p>
              </div>
            )}
            <DeliveryList
              element={list}
              rows={rows}
              selected={selected}
              rowHeight={rowHeight}
              onSelect={select}
              onOpen={() => document.getElementById('detail')?.focus()}
              onScrolled={(scrollTop) => {
                if (scrollTop > 0) setHeld((before) => before ?? holdList(rows));
                else if (selected === undefined) setHeld(undefined);
              }}
            />
          </div>
          <ListSummary
            shown={rows.length}
            total={total}
            newer={newer}
            ready={isThere}
            refused={isRefused}
            filtered={isFiltered}
            held={held !== undefined}
            searched={searched}
          />
        </section>
        <section ref={detail} class="detail-pane" id="detail" tabIndex={-1} aria-label="Delivery">
          {selected === undefined ? (
            <NothingSelected />
          ) : (
            <DetailPane
              id={selected}
              row={live.delivery(selected)}
              held={held?.rows.find(({ id }) => id === selected)}
              route={route}
              onClose={close}
              onSent={showSent}
            />
          )}
        </section>
      </div>
      {writing}
    </>
  );
}

/** @param since ISO 8601, of a stage */
function NoDelivery({ since }: { since: string | undefined }) {
  if (since === undefined) return <>No delivery yet.</>;
  return (
    <>
      No delivery since <Time at={since} day />; logs come some seconds late.
    </>
  );
}

function NothingSelected() {
  return (
    <div class="nothing-selected">
      <p>Select a delivery to see its way.</p>
      <dl>
        <div>
          <dt>
            <kbd>j</kbd> <kbd>k</kbd>
          </dt>
          <dd>move through the list</dd>
        </div>
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>search payloads</dd>
        </div>
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>all keys</dd>
        </div>
      </dl>
    </div>
  );
}
