import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { Confirmation } from './confirmation.tsx';
import { DeliveriesView } from './deliveries/deliveries-view.tsx';
import { readSearch } from './deliveries/list-filter.ts';
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
import { connection, stack } from './store.ts';
import { followStream } from './stream.ts';
import { TopBar } from './top-bar.tsx';
import { Notices } from './ui/notices.tsx';
import { Time } from './ui/time.tsx';
import { KeysDialog, showHelp, useKeys } from './use-keys.tsx';

const CONTENT: Record<ViewName, { readonly title: string; readonly View: FunctionComponent }> = {
  deliveries: { title: 'Deliveries', View: DeliveriesView },
  'needs-you': { title: 'Needs you', View: NeedsYouView },
  queues: { title: 'Queues', View: QueuesView },
};

/** @returns false if the page shows no search box */
function focusSearch(): boolean {
  const box = document.querySelector<HTMLElement>('#search');
  box?.focus();
  return box !== null;
}

export function App() {
  const { view } = route.value;
  const { title, View } = CONTENT[view];
  const search = readSearch(parseRoute(deliveriesAddress.value).query.search ?? '').text;
  useEffect(() => followStream(search), [search]);
  useEffect(() => {
    document.title = `${title} – ${stack.title}`;
  }, [view]);
  const addressOf = (name: ViewName) =>
    name === 'deliveries' ? deliveriesAddress.value : formatRoute({ view: name });
  const go = ({ key }: KeyboardEvent) => {
    location.hash = addressOf(VIEWS[Number(key) - 1] ?? view);
  };
  useKeys('page', {
    '1': go,
    '2': go,
    '3': go,
    '?': showHelp,
    '/': () => {
      // A search box on the page gets the focus at once, because the next key would otherwise act as a shortcut.
      if (focusSearch()) return;
      navigate(parseRoute(deliveriesAddress.value));
      requestAnimationFrame(focusSearch);
    },
  });
  const { state } = connection.value;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <TopBar
        views={VIEWS.map((name) => ({ name, title: CONTENT[name].title, address: addressOf(name) }))}
        current={view}
      />
      <ConnectionBar />
      <main class={state === 'lost' ? 'main is-stale' : 'main'} id="main" tabIndex={-1}>
        <h1 class="visually-hidden">{title}</h1>
        <View />
      </main>
      <Notices />
      <Confirmation />
      <KeysDialog />
    </>
  );
}

/** Says that the connection is lost, and since when. Only screen readers get that it works. */
function ConnectionBar() {
  const now = connection.value;
  const isQuiet = now.state === 'live' || now.state === 'connecting';
  return (
    <div class={isQuiet ? 'visually-hidden' : 'note tone-warning'} data-connection={now.state} role="status">
      {now.state === 'live' && 'Connected'}
      {now.state === 'connecting' && 'Connecting'}
      {now.state === 'lost' && (
        <>
          Not connected. This is the state at <Time at={now.at} />. Reconnecting …
          {!stack.local && ' If the console was started again, open the address that it printed.'}
        </>
      )}
    </div>
  );
}
