import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { DeadLettersView } from './dead-letters-view.tsx';
import { DeliveriesView } from './deliveries/deliveries-view.tsx';
import { FaultsView } from './faults/faults-view.tsx';
import { QueuesView } from './queues/queues-view.tsx';
import { ReplayView } from './replay/replay-view.tsx';
import { deliveriesAddress, formatRoute, parseRoute, route, VIEWS, type ViewName } from './route.ts';
import { connection, deadLetterCount, faults, queues, resets, stack } from './store.ts';
import { openStream } from './stream.ts';
import { TablesView } from './tables-view.tsx';
import { TaskDock, TasksButton } from './task-dock.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import { IconButton } from './ui/button.tsx';
import { openDialog } from './ui/dialog.tsx';
import { Notices } from './ui/notices.tsx';
import { KeysDialog, useKeys } from './use-keys.tsx';
import { Confirmation } from './use-run.tsx';

const CONTENT: Record<ViewName, { readonly title: string; readonly View: FunctionComponent }> = {
  deliveries: { title: 'Deliveries', View: DeliveriesView },
  queues: { title: 'Queues', View: QueuesView },
  'dead-letters': { title: 'Dead letters', View: DeadLettersView },
  replay: { title: 'Replay', View: ReplayView },
  tables: { title: 'Tables', View: TablesView },
  faults: { title: 'Faults', View: FaultsView },
};

/** Milliseconds between two checks whether a dialog is still open. */
const DIALOG_LOOK = 500;

/** @returns whether the list's search box exists */
function focusSearch(): boolean {
  const box = document.querySelector<HTMLElement>('#search');
  box?.focus();
  return box !== null;
}

export function App() {
  const { view } = route.value;
  const { title, View } = CONTENT[view];
  const views = VIEWS.filter((name) => name !== 'faults' || stack.local);
  const [helps, setHelps] = useState(false);
  useRestart();
  const search = parseRoute(deliveriesAddress.value).query.search?.trim() ?? '';
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
    '6': go,
    '?': () => setHelps(true),
    '/': () => {
      // Immediately if possible, so that the next keys are typed into the box and do not act as shortcuts.
      if (focusSearch()) return;
      if (view !== 'deliveries') location.hash = deliveriesAddress.value;
      requestAnimationFrame(focusSearch);
    },
  });
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href={formatRoute({ view: 'deliveries' })} title={stack.title}>
          <svg class="logo" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
            {/* The favicon, logo.svg, has the same shapes. */}
            <path d="M3 6.5h6.5M3 10h4M3 13.5h6.5" />
            <circle cx="13.5" cy="10" r="4.5" />
          </svg>
          <span class="brand-title cut">{stack.title}</span>
        </a>
        {stack.readOnly && <span class="badge">read only</span>}
        <nav class="nav" aria-label="Views">
          {views.map((name) => (
            <a key={name} href={addressOf(name)} aria-current={name === view ? 'page' : undefined}>
              {CONTENT[name].title}
              {name === 'dead-letters' && <DeadLetterCount />}
              {name === 'faults' && <FaultCount />}
            </a>
          ))}
        </nav>
        <div class="top-end">
          <ConnectionState />
          <TasksButton />
          <a class="button button-quiet" href="/api-docs/webhook.html" target="_blank" rel="noopener">
            API
          </a>
          <ThemeSwitch />
          <IconButton
            icon="help"
            label="Keyboard shortcuts (?)"
            aria-keyshortcuts="?"
            onClick={() => setHelps(true)}
          />
        </div>
      </header>
      <main class="main" id="main" tabIndex={-1}>
        <h1 class="visually-hidden">{title}</h1>
        {(view !== 'faults' || stack.local) && <View />}
      </main>
      <Notices />
      <TaskDock />
      <Confirmation />
      {helps && <KeysDialog onClose={() => setHelps(false)} />}
    </>
  );
}

/**
 * A new process of the local console does not accept this page's cookie, so the page reloads. An open dialog delays
 * that, to keep its input.
 */
function useRestart(): void {
  const isOld = stack.local && resets.value > 0;
  useEffect(() => {
    if (!isOld) return;
    const reload = () => openDialog() === null && location.reload();
    reload();
    const timer = setInterval(reload, DIALOG_LOOK);
    return () => clearInterval(timer);
  }, [isOld]);
}

function DeadLetterCount() {
  const known = queues.value.value;
  const count = known === undefined ? 0 : deadLetterCount(known);
  return count === 0 ? null : <span class="count tone-bad">{count.toLocaleString('en')}</span>;
}

function FaultCount() {
  const count = faults.value?.active.length ?? 0;
  return count === 0 ? null : <span class="count tone-warning">{count} active</span>;
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
