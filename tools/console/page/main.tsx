import { signal } from '@preact/signals';
import { render } from 'preact';
import { api, errorText } from './api.ts';
import { App } from './app.tsx';
import { followAddress } from './route.ts';
import { setStack } from './store.ts';
import { Empty, Loading } from './ui/badge.tsx';

/** Milliseconds between attempts to reach the server when the page starts. */
const RETRY_MS = 1_000;

/** Why the server does not answer. `undefined` until the first attempt has ended, null when it has answered. */
const problem = signal<string | undefined | null>(undefined);

const root = document.getElementById('console');
if (root !== null) {
  render(<Start />, root);
  void connect();
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
