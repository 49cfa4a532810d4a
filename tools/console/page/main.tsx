import { render } from 'preact';
import type { StackInfo } from '../api.ts';
import { ApiClient } from './api-client.ts';
import { ErrorNote } from './shared/error-note.tsx';
import { errorText } from './shared/error-text.ts';
import { App } from './shell/app.tsx';
import { applyTheme, readTheme } from './shell/theme.ts';
import { LiveStore } from './stream/live-store.ts';
import { loadOnNewToken, takeToken } from './token.ts';

applyTheme(readTheme());
const root = document.getElementById('console');
if (root !== null) await start(root);

async function start(element: HTMLElement): Promise<void> {
  const api = new ApiClient(takeToken());
  loadOnNewToken();
  try {
    const stack = await api.get<StackInfo>('/api/stack');
    render(<App context={{ api, stack, live: new LiveStore(api) }} />, element);
  } catch (error) {
    render(
      <main class="page">
        <div class="page-inner">
          <ErrorNote>{errorText(error)}</ErrorNote>
        </div>
      </main>,
      element,
    );
  }
}
