import { useEffect, useState } from 'preact/hooks';
import { api } from './api.ts';
import { DeadLettersView } from './dead-letters-view.tsx';
import { DeliveriesView } from './deliveries/deliveries-view.tsx';
import { FaultsView } from './faults/faults-view.tsx';
import { Logo } from './logo.tsx';
import { QueuesView } from './queues/queues-view.tsx';
import { ReplayView } from './replay/replay-view.tsx';
import { deliveriesAddress, formatRoute, parseRoute, route, VIEWS, type ViewName } from './route.ts';
import { connection, deadLetterCount, faults, putTask, queues, resets, stack } from './store.ts';
import { openStream } from './stream.ts';
import { TablesView } from './tables-view.tsx';
import { TaskDock, TasksButton } from './task-dock.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import { IconButton } from './ui/button.tsx';
import { Notices } from './ui/toast.tsx';
import { useLoad } from './ui/use-load.ts';
import { KeysDialog, useKeys } from './use-keys.tsx';
import { Confirmation } from './use-run.tsx';

const TITLES: Record<ViewName, string> = {
  deliveries: 'Deliveries',
  queues: 'Queues',
  'dead-letters': 'Dead letters',
  replay: 'Replay',
  tables: 'Tables',
  faults: 'Faults',
};

/**
 * Milliseconds between two reads of all queues. For a stage that is about twenty SQS calls, which cost a cent an hour
 * at one read a minute.
 */
const QUEUES_EVERY = { local: 2_000, stage: 60_000 };
const FAULTS_EVERY = 2_000;

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
  const views = VIEWS.filter((name) => name !== 'faults' || stack.local);
  const [helps, setHelps] = useState(false);
  useNews();
  const search = parseRoute(deliveriesAddress.value).query.search?.trim() ?? '';
  useEffect(() => openStream(search), [search]);
  useEffect(() => {
    document.title = `${TITLES[view]} – ${stack.title}`;
  }, [view]);
  const addressOf = (name: ViewName) =>
    name === 'deliveries' ? deliveriesAddress.value : formatRoute({ view: name });
  useKeys({
    '?': () => setHelps(true),
    '/': () => {
      // Immediately if possible, so that the next keys are typed into the box and do not act as shortcuts.
      if (focusSearch()) return;
      if (view !== 'deliveries') location.hash = deliveriesAddress.value;
      requestAnimationFrame(focusSearch);
    },
    ...Object.fromEntries(
      views.map((name, index) => [
        String(index + 1),
        () => {
          location.hash = addressOf(name);
        },
      ]),
    ),
  });
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href={formatRoute({ view: 'deliveries' })} title={stack.title}>
          <Logo />
          <span class="brand-title cut">{stack.title}</span>
        </a>
        {stack.readOnly && <span class="badge">read only</span>}
        <nav class="nav" aria-label="Views">
          {views.map((name) => (
            <a key={name} href={addressOf(name)} aria-current={name === view ? 'page' : undefined}>
              {TITLES[name]}
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
        <h1 class="visually-hidden">{TITLES[view]}</h1>
        {view === 'deliveries' && <DeliveriesView />}
        {view === 'queues' && <QueuesView />}
        {view === 'dead-letters' && <DeadLettersView />}
        {view === 'replay' && <ReplayView />}
        {view === 'tables' && <TablesView />}
        {view === 'faults' && stack.local && <FaultsView />}
      </main>
      <Notices />
      <TaskDock />
      <Confirmation />
      {helps && <KeysDialog onClose={() => setHelps(false)} />}
    </>
  );
}

/** Updates data that all views share: queues, faults, tasks started by another page, and restarts of the server. */
function useNews(): void {
  const loadedQueues = useLoad('queues', api.queues, stack.local ? QUEUES_EVERY.local : QUEUES_EVERY.stage);
  const loadedFaults = useLoad(
    'faults',
    (signal) => (stack.local ? api.faults(signal) : Promise.resolve(undefined)),
    stack.local ? FAULTS_EVERY : undefined,
  );
  useEffect(() => {
    queues.value = loadedQueues;
  }, [loadedQueues.value, loadedQueues.error]);
  useEffect(() => {
    faults.value = loadedFaults;
  }, [loadedFaults.value, loadedFaults.error]);
  const isLive = connection.value.state === 'live';
  useEffect(() => {
    if (!isLive) return;
    // Tasks started by another page, or ended while the stream was disconnected.
    api.tasks().then(
      (all) => {
        for (const task of all.toReversed()) putTask(task);
      },
      () => {},
    );
  }, [isLive]);
  // A new process of the local console does not accept this page's cookie, so the page must reload. An open dialog
  // delays that, to keep its input.
  const isOld = stack.local && resets.value > 0;
  useEffect(() => {
    if (!isOld) return;
    const reload = () => document.querySelector('dialog[open]') === null && location.reload();
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
  const count = faults.value.value?.active.length ?? 0;
  return count === 0 ? null : <span class="count tone-warning">{count} active</span>;
}

const CONNECTION_WORDS = {
  connecting: 'Connecting',
  live: 'Connected',
  reconnecting: 'Reconnecting',
  refused: 'Not connected',
} as const;

function ConnectionState() {
  const { state } = connection.value;
  return (
    <span class={`connection is-${state}`} role="status">
      {CONNECTION_WORDS[state]}
    </span>
  );
}
