import { signal } from '@preact/signals';
import { type FunctionComponent, render } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { api, errorText } from './api.ts';
import { DeliveriesView } from './deliveries/deliveries-view.tsx';
import { readSearch } from './deliveries/delivery-rows.ts';
import { NeedsYouView } from './needs-you/needs-you-view.tsx';
import { QueuesView } from './queues/queues-view.tsx';
import {
  deliveriesAddress,
  followAddress,
  formatRoute,
  navigate,
  parseRoute,
  route,
  VIEWS,
  type ViewName,
} from './route.ts';
import { connection, followStream, needsYouCount, queues, setStack, stack } from './store.ts';
import { Badge, Empty, Loading } from './ui/badge.tsx';
import { Button, IconButton } from './ui/button.tsx';
import { Time } from './ui/time.tsx';
import { CORNER, closed, closeToast, subjectOf, type Toast, toasts } from './ui/toasts.ts';
import { KeysDialog, showHelp, useKeys } from './use-keys.tsx';

/** Milliseconds between attempts to reach the server when the page starts. */
const RETRY_MS = 1_000;

const CONTENT: Record<ViewName, { readonly title: string; readonly View: FunctionComponent }> = {
  deliveries: { title: 'Deliveries', View: DeliveriesView },
  'needs-you': { title: 'Needs you', View: NeedsYouView },
  queues: { title: 'Queues', View: QueuesView },
};

const addressOf = (view: ViewName) =>
  view === 'deliveries' ? deliveriesAddress.value : formatRoute({ view });

/** @returns false if the page shows no such element */
function focus(selector: string, options?: FocusOptions): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  element?.focus(options);
  return element !== null;
}

function App() {
  const { view } = route.value;
  const { title, View } = CONTENT[view];
  const search = readSearch(parseRoute(deliveriesAddress.value).query.search).text;
  useEffect(() => followStream(search), [search]);
  useEffect(() => {
    document.title = `${title} – ${stack.title}`;
  }, [view]);
  // The focus skips the header.
  const go = ({ key }: KeyboardEvent) => {
    navigate(parseRoute(addressOf(VIEWS[Number(key) - 1] ?? view)));
    focus('#main');
  };
  useKeys('page', {
    '1': go,
    '2': go,
    '3': go,
    '?': showHelp,
    '/': () => {
      if (focus('#search')) return;
      navigate(parseRoute(deliveriesAddress.value));
      // Before the next key, which would otherwise act as a shortcut. The view is drawn in an earlier microtask.
      queueMicrotask(() => focus('#search'));
    },
  });
  const isLost = connection.value.state === 'lost';
  return (
    <>
      <TopBar current={view} />
      <ConnectionBar />
      <main class={isLost ? 'main is-stale' : 'main'} id="main" tabIndex={-1}>
        <h1 class="visually-hidden">{title}</h1>
        <View />
      </main>
      <Notices />
      <KeysDialog />
    </>
  );
}

/** Header: the name of the stack, the views with their counts, and the help. */
function TopBar({ current }: { current: ViewName }) {
  return (
    <header class="top row">
      <a
        class={stack.local ? 'brand' : 'brand badge tone-warning'}
        href={formatRoute({ view: 'deliveries' })}
      >
        {stack.title}
      </a>
      {stack.readOnly && <Badge>Read only</Badge>}
      <nav class="nav" aria-label="Views">
        {VIEWS.map((name) => (
          <a key={name} href={addressOf(name)} aria-current={name === current ? 'page' : undefined}>
            {CONTENT[name].title}
            <Count of={name} />
          </a>
        ))}
      </nav>
      <Button kind="quiet" label="Keyboard shortcuts" aria-keyshortcuts="?" onClick={showHelp}>
        ?
      </Button>
    </header>
  );
}

/** Number beside a view's name: messages that need a person, or active faults. */
function Count({ of }: { of: ViewName }) {
  if (of === 'needs-you') {
    const { value } = queues;
    if (value === undefined) return <Badge>–</Badge>;
    const count = needsYouCount(value);
    return count === 0 ? null : <Badge tone="bad">{count.toLocaleString('en')}</Badge>;
  }
  const { length } = (of === 'queues' && queues.value?.faults) || [];
  return length === 0 ? null : <Badge tone="warning">{length === 1 ? '1 fault' : `${length} faults`}</Badge>;
}

/** Says that the connection is lost, and since when. Only screen readers get that it works. */
function ConnectionBar() {
  const now = connection.value;
  return (
    <div
      class={now.state === 'lost' ? 'note tone-warning' : 'visually-hidden'}
      data-connection={now.state}
      role="status"
    >
      {now.state === 'live' && 'Connected'}
      {now.state === 'lost' && (
        <>
          Not connected. This is the state at <Time at={now.at} />. Reconnecting …
          {!stack.local && ' If the console was started again, open the address that it printed.'}
        </>
      )}
    </div>
  );
}

/** Toasts are in a corner, where they do not move other content, and above an open dialog. */
function Notices() {
  const own = useRef<HTMLDivElement>(null);
  const all = toasts.value;
  useLayoutEffect(() => {
    own.current?.hidePopover();
    if (all.length > 0) own.current?.showPopover();
  }, [all]);
  return (
    <div ref={own} id={CORNER} class="notices stack" role="status" popover="manual">
      {all.map((shown) => (
        <ToastBox key={subjectOf(shown)} {...shown} />
      ))}
    </div>
  );
}

function ToastBox({ level, text, about, lines = [] }: Toast) {
  const close = () => {
    if (about !== undefined) closed.add(text);
    closeToast(about ?? text);
  };
  return (
    <div class={level === 'error' ? 'notice row tone-bad' : 'notice row'}>
      <p class="grow wrap">{text}</p>
      <IconButton icon="close" label="Close this notice" onClick={close} />
      {lines.length > 0 && (
        <details>
          <summary>Output</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls */}
          <pre class="command scrolled" tabIndex={0}>
            {lines.join('\n')}
          </pre>
        </details>
      )}
    </div>
  );
}

/** Why the server does not answer. `undefined` until the first attempt has ended, null when it has answered. */
const problem = signal<string | undefined | null>(undefined);

const root = document.getElementById('console');
if (root !== null) {
  render(<Start />, root);
  keepFocus(root);
  void connect();
}

/**
 * Moves the focus when the element that had it was removed: in a table to the same control of the next row, otherwise to
 * the open detail, the list of deliveries or the view.
 */
function keepFocus(page: HTMLElement): void {
  let last: Element | undefined;
  let next: () => HTMLElement | null | undefined;
  page.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element)) return;
    last = target;
    next = controlOfNextRow(target);
  });
  const observer = new MutationObserver(() => {
    if (last?.isConnected !== false || document.activeElement !== document.body) return;
    const control = next();
    if (control) control.focus();
    else ['#detail', '.deliveries-table', '#main'].some((one) => focus(one, { preventScroll: true }));
  });
  observer.observe(page, { childList: true, subtree: true });
}

/** @returns a function that finds the same control in the row that has taken the place of an element's row */
function controlOfNextRow(element: Element) {
  const cell = element.closest('.td');
  const body = cell?.closest('.tbody');
  const index = [...(body?.children ?? [])].findIndex((row) => row.contains(element));
  return () => {
    const rows = body?.isConnected ? [...body.children] : [];
    const row = rows[Math.min(index, rows.length - 1)];
    return row?.querySelector<HTMLElement>(`.${cell?.classList[1]} :is(a, button)`);
  };
}

async function connect(): Promise<void> {
  try {
    setStack(await api.stack());
  } catch (error) {
    problem.value = errorText(error);
    setTimeout(connect, RETRY_MS);
    return;
  }
  followAddress();
  problem.value = null;
}

function Start() {
  if (problem.value === null) return <App />;
  if (problem.value === undefined) return <Loading />;
  return (
    <Empty title="Not connected yet">
      <p role="status">{problem.value}</p>
      <p>The page tries again every second.</p>
    </Empty>
  );
}
