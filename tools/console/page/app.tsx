import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { Confirmation } from './confirmation.tsx';
import { DeadLettersView } from './dead-letters-view.tsx';
import { DeliveriesView } from './deliveries/deliveries-view.tsx';
import { readSearch } from './deliveries/list-filter.ts';
import { FaultsView } from './faults/faults-view.tsx';
import { QueuesView } from './queues/queues-view.tsx';
import {
  deliveriesAddress,
  formatRoute,
  navigate,
  parseRoute,
  route,
  VIEWS,
  type ViewName,
} from './route.ts';
import { connection, resets, stack } from './store.ts';
import { openStream } from './stream.ts';
import { TaskDock } from './task-dock.tsx';
import { TopBar } from './top-bar.tsx';
import { openDialog } from './ui/dialog.tsx';
import { Notices } from './ui/notices.tsx';
import { RefusalTip } from './ui/refusal.tsx';
import { KeysDialog, showHelp, useKeys } from './use-keys.tsx';

const CONTENT: Record<ViewName, { readonly title: string; readonly View: FunctionComponent }> = {
  deliveries: { title: 'Deliveries', View: DeliveriesView },
  queues: { title: 'Queues', View: QueuesView },
  'dead-letters': { title: 'Dead letters', View: DeadLettersView },
  faults: { title: 'Faults', View: FaultsView },
};

/** Milliseconds between two checks whether a dialog is still open. */
const DIALOG_CHECK_INTERVAL = 500;

/** @returns false if the page shows no search box */
function focusSearch(): boolean {
  const box = document.querySelector<HTMLElement>('#search');
  box?.focus();
  return box !== null;
}

export function App() {
  const { view } = route.value;
  const { title, View } = CONTENT[view];
  const views = VIEWS.filter((name) => name !== 'faults' || stack.local);
  useRestart();
  const search = readSearch(parseRoute(deliveriesAddress.value).query.search ?? '').text;
  useEffect(() => openStream(search), [search]);
  useEffect(() => {
    document.title = `${title} – ${stack.title}`;
  }, [view]);
  const addressOf = (name: ViewName) =>
    name === 'deliveries' ? deliveriesAddress.value : formatRoute({ view: name });
  const go = ({ key }: KeyboardEvent) => {
    const name = views[Number(key) - 1];
    if (name === undefined) return false;
    location.hash = addressOf(name);
    return true;
  };
  useKeys('page', {
    '1': go,
    '2': go,
    '3': go,
    '4': go,
    '5': go,
    '?': showHelp,
    '/': () => {
      // A search box on the page gets the focus at once, because the next key would otherwise act as a shortcut.
      if (focusSearch()) return;
      navigate(parseRoute(deliveriesAddress.value));
      requestAnimationFrame(focusSearch);
    },
  });
  return (
    <>
      <SkipLink />
      <TopBar
        views={views.map((name) => ({ name, title: CONTENT[name].title, address: addressOf(name) }))}
        current={view}
      >
        <ConnectionState />
      </TopBar>
      <main class="main" id="main" tabIndex={-1}>
        <h1 class="visually-hidden">{title}</h1>
        <View />
      </main>
      <Notices />
      <TaskDock />
      <Confirmation />
      <RefusalTip />
      <KeysDialog />
    </>
  );
}

/**
 * Link for keyboard users that skips the header. The link leads to the view's list, or to the view's beginning if the
 * view has no list.
 */
function SkipLink() {
  const skip = () => {
    const lists = document.querySelectorAll<HTMLElement>('main :is([role=grid], [role=table])');
    const target =
      [...lists].find(({ offsetParent }) => offsetParent !== null) ?? document.querySelector('main');
    // Without a tabindex, a table cannot get the focus. A grid has one.
    if (target?.tabIndex === -1) target.tabIndex = -1;
    target?.focus();
  };
  return (
    <button type="button" class="skip" onClick={skip}>
      Skip to the content
    </button>
  );
}

/**
 * Reloads the page when the local console has restarted, because the new console rejects this page's cookie. While a
 * dialog is open, the page waits, so that the dialog's input is not lost.
 */
function useRestart(): void {
  const isOld = stack.local && resets.value > 0;
  useEffect(() => {
    if (!isOld) return;
    const reload = () => openDialog() === null && location.reload();
    reload();
    const timer = setInterval(reload, DIALOG_CHECK_INTERVAL);
    return () => clearInterval(timer);
  }, [isOld]);
}

const CONNECTION_WORDS = {
  connecting: 'Connecting',
  live: 'Connected',
  reconnecting: 'Reconnecting',
  refused: 'Not connected',
} as const;

export function ConnectionState() {
  const { state } = connection.value;
  return (
    <span class={`connection is-${state}`} role="status">
      {CONNECTION_WORDS[state]}
    </span>
  );
}
