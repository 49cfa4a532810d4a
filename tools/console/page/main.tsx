import { render } from 'preact';
import { api, errorText } from './api.ts';
import { App } from './app.tsx';
import { followAddress } from './route.ts';
import { setStack } from './store.ts';
import { releaseWhileHidden } from './stream.ts';
import { applyTheme } from './theme.tsx';
import { Empty } from './ui/badge.tsx';

applyTheme();
const root = document.getElementById('console');
if (root !== null) await start(root);

async function start(element: HTMLElement): Promise<void> {
  try {
    setStack(await api.stack());
  } catch (error) {
    render(
      <main>
        <Empty title="Not connected">
          <p>{errorText(error)}</p>
        </Empty>
      </main>,
      element,
    );
    return;
  }
  followAddress();
  releaseWhileHidden();
  render(<App />, element);
}
