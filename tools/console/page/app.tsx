import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { DeliveriesView } from './deliveries/deliveries-view.tsx';
import { readSearch } from './deliveries/delivery-rows.ts';
import { NeedsYouView } from './needs-you/needs-you-view.tsx';
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
import { connection, needsYouCount, queues, stack } from './store.ts';
import { followStream } from './stream.ts';
import { Badge } from './ui/badge.tsx';
import { Button } from './ui/button.tsx';
import { Notices } from './ui/notices.tsx';
import { Time } from './ui/time.tsx';
import { KeysDialog, showHelp, useKeys } from './use-keys.tsx';

const CONTENT: Record<ViewName, { readonly title: string; readonly View: FunctionComponent }> = {
  deliveries: { title: 'Deliveries', View: DeliveriesView },
  'needs-you': { title: 'Needs you', View: NeedsYouView },
  queues: { title: 'Queues', View: QueuesView },
};

const addressOf = (view: ViewName) =>
  view === 'deliveries' ? deliveriesAddress.value : formatRoute({ view });

/** @returns false if the page shows no such element */
function focus(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  element?.focus();
  return element !== null;
}

export function App() {
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
