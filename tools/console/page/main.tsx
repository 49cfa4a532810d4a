import { signal } from '@preact/signals';
import { render } from 'preact';
import { api, errorText } from './api.ts';
import { App } from './app.tsx';
import { followAddress } from './route.ts';
import { setStack } from './store.ts';
import { applyTheme } from './theme.ts';
import { Empty, Loading } from './ui/badge.tsx';

/** Milliseconds between attempts to reach the server when the page starts. */
const RETRY_MS = 1_000;

type StartState = { readonly problem?: string } | 'connected';

const startState = signal<StartState>({});

applyTheme();
const root = document.getElementById('console');
if (root !== null) {
  render(<Start />, root);
  void connect();
}

async function connect(): Promise<void> {
  try {
    setStack(await api.stack());
  } catch (error) {
    startState.value = { problem: errorText(error) };
    setTimeout(connect, RETRY_MS);
    return;
  }
  followAddress();
  startState.value = 'connected';
}

/** The page's frame, empty until the server answers. */
function Start() {
  const state = startState.value;
  if (state === 'connected') return <App />;
  return (
    <>
      <header class="top">
        <span class="brand row">
          <img src="/logo.svg" width="20" height="20" alt="" />
          <span class="brand-title">Partner webhooks</span>
        </span>
      </header>
      <main class="main">
        {state.problem === undefined ? (
          <Loading />
        ) : (
          <Empty title="Not connected yet">
            <p role="status">{state.problem}</p>
            <p>The page tries again every second.</p>
          </Empty>
        )}
      </main>
    </>
  );
}
