import { useEffect, useState } from 'preact/hooks';
import { DeliveriesView } from '../deliveries/deliveries-view.tsx';
import { filterOf, movesWithTime, streamQuery } from '../deliveries/filter-query.ts';
import { ActiveNote } from '../faults/active-note.tsx';
import { FaultsProvider } from '../faults/faults-context.tsx';
import { FaultsView } from '../faults/faults-view.tsx';
import { QueuesView } from '../queues/queues-view.tsx';
import { useLiveState } from '../stream/use-live.ts';
import { TablesView } from '../tables/tables-view.tsx';
import { TaskDock, TasksButton } from '../tasks/task-dock.tsx';
import { TasksProvider } from '../tasks/tasks-context.tsx';
import { ConnectionState } from './connection-state.tsx';
import { type Console, ConsoleContext } from './context.ts';
import { HelpDialog } from './help-dialog.tsx';
import { Notices } from './notices.tsx';
import { formatRoute, type ViewName } from './route.ts';
import { ThemeSwitch } from './theme-switch.tsx';
import { Toasts } from './toasts.tsx';
import { useKeys } from './use-keys.ts';
import { useNewProcess } from './use-new-process.ts';
import { navigate, useRoute } from './use-route.ts';

const TITLES: Record<ViewName, string> = {
  deliveries: 'Deliveries',
  queues: 'Queues',
  tables: 'Tables',
  faults: 'Faults',
};

/** A filter such as “Last 15 minutes” is counted anew this often, in milliseconds. */
const REOPENED_EVERY = 60_000;

export function App({ context }: { context: Console }) {
  const { stack, live } = context;
  const route = useRoute();
  const { connection, notices, resets } = useLiveState(live);
  useNewProcess(stack.local, resets);
  const [helps, setHelps] = useState(false);
  /** Of the deliveries as they were looked at last: other views keep it. */
  const [deliveries, setDeliveries] = useState('#/deliveries');
  const views: readonly ViewName[] = stack.local
    ? ['deliveries', 'queues', 'tables', 'faults']
    : ['deliveries', 'queues', 'tables'];
  const query = route.view === 'deliveries' ? streamQuery(route.query) : undefined;

  useEffect(() => {
    if (route.view === 'deliveries') setDeliveries(formatRoute(route));
  }, [route]);
  useEffect(() => {
    // Other views keep the filter of the deliveries.
    live.open(query ?? live.query ?? '');
  }, [live, query]);
  const moves = query !== undefined && movesWithTime(filterOf(route.query));
  useEffect(() => {
    if (!moves) return;
    const timer = setInterval(() => document.hidden || live.reopen(), REOPENED_EVERY);
    return () => clearInterval(timer);
  }, [live, query, moves]);
  useEffect(() => {
    document.title = `${TITLES[route.view]} – ${stack.title}`;
  }, [route.view, stack.title]);

  const addressOf = (view: ViewName) => (view === 'deliveries' ? deliveries : formatRoute({ view }));
  useKeys({
    '?': () => setHelps(true),
    '/': () => {
      if (route.view !== 'deliveries') navigate({ view: 'deliveries' });
      requestAnimationFrame(() => document.querySelector<HTMLElement>('#search')?.focus());
    },
    ...Object.fromEntries(
      views.map((view, index) => [
        String(index + 1),
        () => {
          location.hash = addressOf(view);
        },
      ]),
    ),
  });

  return (
    <ConsoleContext.Provider value={context}>
      <FaultsProvider>
        <TasksProvider>
          <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
            Skip to the view
          </button>
          <header class="top">
            <div class="brand">
              <svg class="brand-mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
                <path d="M3 6.5h6.5M3 10h4M3 13.5h6.5" />
                <circle cx="13.5" cy="10" r="4.5" />
              </svg>
              <span class="brand-title" title={stack.title}>
                {stack.title}
              </span>
              {stack.readOnly && <span class="brand-note">read only</span>}
            </div>
            <nav class="nav" aria-label="Views">
              {views.map((view) => (
                <a key={view} href={addressOf(view)} aria-current={view === route.view ? 'page' : undefined}>
                  {TITLES[view]}
                </a>
              ))}
            </nav>
            <div class="top-end">
              <ActiveNote />
              <ConnectionState connection={connection} />
              <TasksButton />
              <a
                class="top-link"
                href="/api-docs/webhook.html"
                target="_blank"
                title="What the partner sends, and what is answered"
                rel="noopener"
              >
                API
              </a>
              <ThemeSwitch />
              <button
                type="button"
                class="icon-button"
                aria-label="Keys"
                title="Keys (?)"
                aria-keyshortcuts="?"
                onClick={() => setHelps(true)}
              >
                <span class="question" aria-hidden="true">
                  ?
                </span>
              </button>
            </div>
          </header>
          <Notices notices={notices} connection={connection} />
          <main class="main" id="main" tabIndex={-1}>
            {route.view === 'deliveries' && <DeliveriesView route={route} />}
            {route.view === 'queues' && <QueuesView route={route} />}
            {route.view === 'tables' && <TablesView route={route} />}
            {route.view === 'faults' && stack.local && <FaultsView />}
          </main>
          <Toasts />
          <TaskDock />
          {helps && <HelpDialog onClose={() => setHelps(false)} />}
        </TasksProvider>
      </FaultsProvider>
    </ConsoleContext.Provider>
  );
}
