import { useState } from 'preact/hooks';
import type { EventInfo, Queues } from '../../api.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { Loading } from '../shared/loading.tsx';
import { Problems } from '../shared/problems.tsx';
import type { Loaded } from '../shared/use-load.ts';
import { useAct } from '../tasks/tasks-context.tsx';
import { PauseDialog } from './pause-dialog.tsx';
import { QueueMessagesPane } from './queue-messages-pane.tsx';
import { QueueTable } from './queue-table.tsx';

type EventName = EventInfo['name'];

/** All queues, and beside them what is on the one that is opened. */
export function QueueList({ queues, selected }: { queues: Loaded<Queues>; selected: string | undefined }) {
  const { run, error, busy, refusal } = useAct();
  const [pausing, setPausing] = useState<EventName>();
  const { value } = queues;
  return (
    <div class={`split${selected === undefined ? '' : ' is-open'}`}>
      <section class="split-list" aria-label="Queues">
        {queues.error !== undefined && <ErrorNote>{queues.error}</ErrorNote>}
        {queues.value === undefined && queues.error === undefined && <Loading />}
        {error !== undefined && <ErrorNote>{error}</ErrorNote>}
        {value !== undefined && (
          <>
            <Problems problems={value.problems} />
            <QueueTable
              queues={value}
              selected={selected}
              refusal={refusal}
              busy={busy}
              onPause={setPausing}
              onResume={(event) => run([{ kind: 'resume', event }])}
            />
            <p class="hint soft">
              A message waits on the queue of its event until its consumer has carried it out. What fails ten
              times, or never can succeed, becomes a dead letter. Quarantine has what was signed and is no
              event; unrouted, events that nobody knows yet.
            </p>
          </>
        )}
      </section>
      {selected !== undefined && <QueueMessagesPane key={selected} name={selected} queues={value} />}
      {pausing !== undefined && (
        <PauseDialog
          event={pausing}
          onClose={() => setPausing(undefined)}
          onPause={(reason) => {
            setPausing(undefined);
            run([{ kind: 'pause', event: pausing, reason }]);
          }}
        />
      )}
    </div>
  );
}
