import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { DetailPane } from '../detail/detail-pane.tsx';
import { Editor } from '../editor/editor.tsx';
import { navigate, route } from '../route.ts';
import { connection, deliveryOf, resets, stack, rows as stored } from '../store.ts';
import { Empty, ErrorNote } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Split } from '../ui/split.tsx';
import { rowAfterKey } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { useKeys } from '../use-keys.tsx';
import { CheckedBar } from './checked-bar.tsx';
import { DeliveryTable, Summary } from './delivery-table.tsx';
import { Filters } from './filters.tsx';
import { FirstEvent, SendMenu } from './first-event.tsx';
import { countNew, type HeldList, holdList, olderThan } from './held-list.ts';
import { isFiltered, matches, movesWithTime, NO_FILTERS, readFilter } from './list-filter.ts';
import { OutcomeStrip } from './outcome-strip.tsx';

/** Milliseconds between updates of counts, bars and relative time ranges such as “Last 15 minutes”. */
const TICK = 1_000;

/** Elements with their own use of arrow keys, Home and End. */
const USES_ARROWS =
  '.scrolled, .viewer, [role=slider], [role=separator], [role=tablist], [role=menu], .cm-editor';

const change = (query: Readonly<Record<string, string>>) => {
  const current = route.peek();
  navigate({ ...current, query: { ...current.query, ...query } }, { replace: true });
};

const select = (id: string) => {
  const current = route.peek();
  navigate({ ...current, path: [id] }, { replace: current.path[0] !== undefined });
};

export function DeliveriesView() {
  const {
    path: [selected],
    query,
  } = route.value;
  const { all, ready, search, searched } = stored.value;
  const [held, setHeld] = useState<HeldList>();
  const checked = useSignal<ReadonlySet<string>>(new Set());
  const writes = useSignal(false);
  const now = useNow();
  const list = useRef<HTMLDivElement>(null);
  const detail = useRef<HTMLElement>(null);

  const { tab: _tab, ...filters } = query;
  const key = new URLSearchParams(filters).toString();
  const read = useMemo(() => readFilter(query), [key]);
  const filter = typeof read === 'string' ? undefined : read;
  const live = useMemo(
    () => (filter === undefined ? [] : all.filter((row) => matches(row, filter, now))),
    [all, filter, filter !== undefined && movesWithTime(filter) ? now : 0],
  );
  const rows = useMemo(
    () =>
      held === undefined
        ? live
        : [...held.rows.map((row) => deliveryOf(row.id) ?? row), ...olderThan(held, live)],
    [live, held],
  );
  const newer = held === undefined ? 0 : countNew(held, live);
  const filtered = isFiltered(query);
  const isThere = ready && search === (query.search?.trim() ?? '');
  const isRefused = connection.value.state === 'refused';

  const follow = () => {
    setHeld(undefined);
    if (list.current !== null) list.current.scrollTop = 0;
  };
  const hold = () => setHeld((before) => before ?? holdList(rows));
  // With another filter, or another process of the server, the list is a new one.
  useEffect(follow, [key, resets.value]);
  const isSelectedThere = isThere && rows.some(({ id }) => id === selected);
  useEffect(() => {
    if (isSelectedThere) hold();
  }, [selected, isSelectedThere, key]);

  const showSent = (id: string) => {
    const current = route.peek();
    if (current.view !== 'deliveries') return;
    follow();
    navigate({ ...current, path: [id] });
  };
  const close = () => {
    navigate({ ...route.peek(), path: [] });
    if ((list.current?.scrollTop ?? 0) === 0) setHeld(undefined);
  };
  useFocus(selected !== undefined, list, detail);

  const enter = () => {
    if (route.peek().path[0] === undefined) return false;
    detail.current?.focus();
    return true;
  };
  const move = ({ key: pressed }: KeyboardEvent) => {
    const index = rows.findIndex(({ id }) => id === route.peek().path[0]);
    const row = rows[rowAfterKey(pressed, index, rows.length) ?? -1];
    if (row === undefined) return false;
    select(row.id);
    // So that the list receives Enter. On a narrow page the list is hidden, and the detail has the focus.
    list.current?.focus({ preventScroll: true });
    return true;
  };
  const moveUnlessUsed = (event: KeyboardEvent) =>
    event.target instanceof Element && event.target.closest(USES_ARROWS) !== null ? false : move(event);
  useKeys({
    j: move,
    k: move,
    ArrowDown: moveUnlessUsed,
    ArrowUp: moveUnlessUsed,
    Home: moveUnlessUsed,
    End: moveUnlessUsed,
    Enter: ({ target }) => (target === document.body ? enter() : false),
    n: follow,
    Escape: () => {
      if (checked.value.size > 0) checked.value = new Set();
      else if (selected === undefined) follow();
      else close();
    },
  });

  const writing = writes.value && (
    <Editor
      key="editor"
      title="Write a body"
      text={stack.events[0]?.sample ?? '{}'}
      onClose={() => {
        writes.value = false;
      }}
      onSent={showSent}
    />
  );
  const onWrite = () => {
    writes.value = true;
  };
  if (stack.local && isThere && all.length === 0 && !filtered && selected === undefined) {
    return (
      <>
        <FirstEvent key="first" onSent={showSent} onWrite={onWrite} />
        {writing}
      </>
    );
  }
  return (
    <>
      <Split
        key="list"
        detailLabel="Delivery"
        detailRef={detail}
        detail={selected && <DetailPane id={selected} onClose={close} onSent={showSent} />}
      >
        <section class="list-pane" aria-label="List of deliveries">
          <div class="list-tools row">
            {checked.value.size === 0 ? (
              <Filters query={query} onChange={change} onLeave={() => list.current?.focus()} />
            ) : (
              <CheckedBar
                checked={[...checked.value].flatMap((id) => deliveryOf(id) ?? [])}
                onSelectAll={() => {
                  checked.value = new Set(rows.map(({ id }) => id));
                }}
                onDone={(ids) => {
                  checked.value = checked.value.difference(new Set(ids));
                }}
              />
            )}
            <SendMenu onSent={showSent} onWrite={onWrite} />
          </div>
          {filter !== undefined && (
            <OutcomeStrip
              rows={all}
              ready={isThere}
              filter={filter}
              now={now}
              query={query}
              onChange={change}
            />
          )}
          <div class={`list-frame${isThere ? '' : ' is-stale'}`} aria-busy={!isThere && !isRefused}>
            {newer > 0 && (
              <button
                type="button"
                class="button button-primary newer"
                onClick={() => {
                  follow();
                  list.current?.focus();
                }}
              >
                <Icon name="up" />
                {newer.toLocaleString('en')} new
              </button>
            )}
            {typeof read === 'string' ? (
              <Empty title="The address has an invalid filter">
                <ErrorNote>{read}</ErrorNote>
                <Button onClick={() => change(NO_FILTERS)}>Clear filters</Button>
              </Empty>
            ) : rows.length === 0 && isThere ? (
              <Nothing filtered={filtered} />
            ) : (
              <DeliveryTable
                element={list}
                rows={rows}
                selected={selected}
                checked={checked.value}
                onSelect={select}
                onEnter={enter}
                onCheck={(ids) => {
                  checked.value = ids;
                }}
                onScroll={(scrollTop) => {
                  if (scrollTop > 0) hold();
                  else if (selected === undefined) setHeld(undefined);
                }}
              />
            )}
          </div>
          <Summary
            shown={rows.length}
            newer={newer}
            ready={isThere}
            refused={isRefused}
            filtered={filtered}
            paused={held !== undefined}
            searched={searched}
          />
        </section>
      </Split>
      {writing}
    </>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <Empty title="No delivery matches">
        <Button onClick={() => change(NO_FILTERS)}>Clear filters</Button>
      </Empty>
    );
  }
  return (
    <Empty title="No deliveries">
      {stack.since !== undefined && (
        <p>
          None since <Time at={stack.since} />. Logs arrive some seconds late.
        </p>
      )}
    </Empty>
  );
}

/** Epoch milliseconds, updated every second. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/**
 * Returns the focus to the list when a focused detail closes. Moves it to the detail if the detail replaces the list.
 */
function useFocus(
  isOpen: boolean,
  list: { readonly current: HTMLElement | null },
  detail: { readonly current: HTMLElement | null },
): void {
  const wasOpen = useRef(isOpen);
  useLayoutEffect(() => {
    if (wasOpen.current === isOpen) return;
    wasOpen.current = isOpen;
    const { activeElement } = document;
    const isListHidden = list.current?.offsetParent === null;
    if (!isOpen && activeElement === document.body) list.current?.focus({ preventScroll: true });
    else if (
      isOpen &&
      isListHidden &&
      (activeElement === document.body || list.current?.contains(activeElement))
    )
      detail.current?.focus();
  }, [isOpen]);
}
