import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { DetailPane } from '../detail/detail-pane.tsx';
import { Editor } from '../editor/editor.tsx';
import { filterBy, navigate, route } from '../route.ts';
import { connection, deliveryOf, stack, rows as stored } from '../store.ts';
import { Empty, ErrorNote } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Split } from '../ui/split.tsx';
import { rowAfterKey, toggled } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { useKeys } from '../use-keys.tsx';
import { CheckedBar } from './checked-bar.tsx';
import { filter, freeze, isThere, listKey, newer, shownRows, unfreeze } from './delivery-rows.ts';
import { DeliveryTable, Summary } from './delivery-table.tsx';
import { Filters } from './filters.tsx';
import { FirstEvent, SendMenu, type SendProps } from './first-event.tsx';
import { isFiltered, NO_FILTERS } from './list-filter.ts';

/** Elements that handle arrow keys, Home and End themselves, so that the list must not. */
const USES_ARROWS = '.scrolled, .code, [role=menu], .cm-editor';

const scrollToTop = ({ current }: RefObject<HTMLElement | null>) => current?.scrollTo({ top: 0 });

const select = (id: string) => {
  const current = route.peek();
  navigate({ ...current, path: [id] }, { replace: current.path[0] !== undefined });
};

/** The view of deliveries, with the detail of the open one: `#/deliveries/<id>?<filters>`. */
export function DeliveriesView() {
  const {
    path: [selected],
    query,
  } = route.value;
  const list = useRef<HTMLDivElement>(null);
  const detail = useRef<HTMLElement>(null);
  const checked = useSignal<ReadonlySet<string>>(new Set());
  const writes = useSignal(false);
  const rows = shownRows.value;
  useFocus(selected !== undefined, list, detail);
  useEffect(() => unfreeze, []);
  // While a detail is open, new rows must not move the list. Waits for the open row, which may not be loaded yet.
  const isSelectedThere = isThere.value && rows.some(({ id }) => id === selected);
  useEffect(() => {
    if (isSelectedThere) freeze();
  }, [selected, isSelectedThere, listKey.value]);
  useLayoutEffect(() => scrollToTop(list), [listKey.value]);
  const follow = () => {
    unfreeze();
    scrollToTop(list);
  };

  const showSent = (id: string) => {
    const current = route.peek();
    if (current.view !== 'deliveries') return;
    follow();
    navigate({ ...current, path: [id] });
  };
  const close = () => {
    navigate({ ...route.peek(), path: [] });
    if ((list.current?.scrollTop ?? 0) === 0) unfreeze();
  };
  const enter = () => {
    if (route.peek().path[0] === undefined) return false;
    detail.current?.focus();
    return true;
  };
  const move = ({ key }: KeyboardEvent) => {
    const index = rows.findIndex(({ id }) => id === route.peek().path[0]);
    const row = rows[rowAfterKey(key, index, rows.length) ?? -1];
    if (row === undefined) return false;
    select(row.id);
    // Gives the list the focus, so that it receives Enter. A narrow page shows the detail instead of the list.
    list.current?.focus({ preventScroll: true });
    return true;
  };
  const moveUnlessUsed = (event: KeyboardEvent) =>
    event.target instanceof Element && event.target.closest(USES_ARROWS) !== null ? false : move(event);
  const isNowhere = ({ target }: KeyboardEvent) => target === document.body;
  const movePage = (event: KeyboardEvent) => isNowhere(event) && move(event);
  useKeys('list', {
    j: move,
    k: move,
    ArrowDown: moveUnlessUsed,
    ArrowUp: moveUnlessUsed,
    PageDown: movePage,
    PageUp: movePage,
    Home: moveUnlessUsed,
    End: moveUnlessUsed,
    Enter: (event) => isNowhere(event) && enter(),
    ' ': (event) => {
      if (!isNowhere(event) || selected === undefined) return false;
      checked.value = toggled(checked.value, selected);
      return true;
    },
    n: follow,
    Escape: () => {
      if (checked.value.size > 0) checked.value = new Set();
      else if (selected === undefined) follow();
      else close();
    },
  });

  const sends: SendProps = {
    onSent: showSent,
    onWrite: () => {
      writes.value = true;
    },
  };
  const isEmpty =
    isThere.value && stored.value.all.length === 0 && !isFiltered(query) && selected === undefined;
  return (
    <>
      {stack.local && isEmpty ? (
        <FirstEvent {...sends} />
      ) : (
        <Split
          detailLabel="Delivery"
          detailRef={detail}
          detail={selected && <DetailPane id={selected} onClose={close} onSent={showSent} />}
        >
          <ListPane {...{ list, selected, checked, sends, enter, follow }} />
        </Split>
      )}
      {writes.value && (
        <Editor
          title="Write a body"
          text={stack.events[0]?.sample ?? '{}'}
          onClose={() => {
            writes.value = false;
          }}
          onSent={showSent}
        />
      )}
    </>
  );
}

interface ListPaneProps {
  list: RefObject<HTMLDivElement | null>;
  selected: string | undefined;
  checked: Signal<ReadonlySet<string>>;
  sends: SendProps;
  enter: () => void;
  follow: () => void;
}

function ListPane({ list, selected, checked, sends, enter, follow }: ListPaneProps) {
  const rows = shownRows.value;
  const ready = isThere.value;
  const isRefused = connection.value.state === 'refused';
  const followAndFocus = () => {
    follow();
    list.current?.focus();
  };
  return (
    <section class="list-pane" aria-label="List of deliveries">
      <div class="list-tools row">
        {checked.value.size === 0 ? (
          <Filters onLeave={() => list.current?.focus()} />
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
        <SendMenu {...sends} />
      </div>
      <div class={`list-frame${ready ? '' : ' is-stale'}`} aria-busy={!ready && !isRefused}>
        {newer.value > 0 && (
          <button type="button" class="button button-primary newer" onClick={followAndFocus}>
            <Icon name="up" />
            {newer.value.toLocaleString('en')} new
          </button>
        )}
        {typeof filter.value === 'string' ? (
          <Empty title="The address has an invalid filter">
            <ErrorNote>{filter.value}</ErrorNote>
            <ClearButton />
          </Empty>
        ) : rows.length === 0 && ready ? (
          <Nothing />
        ) : (
          <DeliveryTable
            element={list}
            rows={rows}
            current={selected}
            checked={checked.value}
            onOpen={select}
            onEnter={enter}
            onCheck={(ids) => {
              checked.value = ids;
            }}
            onScroll={(scrollTop) => {
              if (scrollTop > 0) freeze();
              else if (selected === undefined) unfreeze();
            }}
          />
        )}
      </div>
      <Summary onFollow={followAndFocus} />
    </section>
  );
}

const ClearButton = () => <Button onClick={() => filterBy(NO_FILTERS)}>Clear filters</Button>;

function Nothing() {
  if (isFiltered(route.value.query)) {
    return (
      <Empty title="No delivery matches">
        <ClearButton />
      </Empty>
    );
  }
  return (
    <Empty title="No deliveries">
      {stack.since !== undefined && (
        <p>
          None arrived since <Time at={stack.since} />. Logs arrive some seconds late.
        </p>
      )}
    </Empty>
  );
}

/**
 * Returns the focus to the list when a focused detail closes. Moves it to the detail if the detail replaces the list.
 */
function useFocus(
  isOpen: boolean,
  list: RefObject<HTMLElement | null>,
  detail: RefObject<HTMLElement | null>,
): void {
  const wasOpen = useRef(isOpen);
  useLayoutEffect(() => {
    if (wasOpen.current === isOpen) return;
    wasOpen.current = isOpen;
    const { activeElement } = document;
    const isNowhere = activeElement === document.body;
    if (!isOpen && isNowhere) list.current?.focus({ preventScroll: true });
    const isListHidden = list.current?.offsetParent === null;
    if (isOpen && isListHidden && (isNowhere || list.current?.contains(activeElement)))
      detail.current?.focus();
  }, [isOpen]);
}
