import { useState } from 'preact/hooks';
import type { FaultSettings } from '../../api.ts';
import { Button } from '../shared/button.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { errorText } from '../shared/error-text.ts';
import { useConsole } from '../shell/context.ts';
import { ActiveFaults } from './active-faults.tsx';
import { FaultBoard } from './fault-board.tsx';
import { useFaults } from './faults-context.tsx';
import { FunctionKills } from './function-kills.tsx';

/** What can be broken of the local stack, so that anybody can watch it heal. */
export function FaultsView() {
  const { api } = useConsole();
  const faults = useFaults();
  const [error, setError] = useState<string>();
  const active = faults.value?.active ?? [];
  const change = async (work: () => Promise<unknown>): Promise<boolean> => {
    setError(undefined);
    try {
      await work();
      return true;
    } catch (failure) {
      setError(errorText(failure));
      return false;
    } finally {
      faults.reload();
    }
  };
  const begin = (fault: FaultSettings) => change(() => api.post('/api/faults', fault));
  const end = (id: string) => change(() => api.delete(`/api/faults/${encodeURIComponent(id)}`));
  return (
    <div class="view">
      <div class="page">
        <div class="page-inner stack-wide">
          <header class="page-head">
            <div>
              <h1>Break something, and watch it heal</h1>
              <p class="soft">
                A fault hits the calls of functions and event sources from now on, until it is ended. This
                console and commands are spared.
              </p>
            </div>
            <Button
              kind="danger"
              disabled={active.length === 0}
              onClick={() => change(() => api.delete('/api/faults'))}
            >
              End all faults
            </Button>
          </header>
          {faults.error !== undefined && <ErrorNote>{faults.error}</ErrorNote>}
          {error !== undefined && <ErrorNote>{error}</ErrorNote>}
          <FaultBoard active={active} onBegin={begin} onEnd={end} />
          <ActiveFaults active={active} onEnd={end} />
          <FunctionKills
            functions={faults.value?.functions ?? []}
            onKill={(name, next) =>
              change(() => api.post(`/api/functions/${encodeURIComponent(name)}/kill`, { next }))
            }
          />
        </div>
      </div>
    </div>
  );
}
