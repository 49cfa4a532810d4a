import { useState } from 'preact/hooks';
import type { Action, DeadLetterGroup, DeadLetters } from '../../api.ts';
import { Age } from '../shared/age.tsx';
import { Button } from '../shared/button.tsx';
import { Empty } from '../shared/empty.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { Loading } from '../shared/loading.tsx';
import { Problems } from '../shared/problems.tsx';
import { useLoad } from '../shared/use-load.ts';
import { REFRESH, useRefresh } from '../shared/use-refresh.ts';
import { useConsole } from '../shell/context.ts';
import { ActButton } from '../tasks/act-button.tsx';
import { useAct, useTaskEnds } from '../tasks/tasks-context.tsx';
import { Visible } from '../text/visible.tsx';
import { DeadLetterMessages } from './dead-letter-messages.tsx';
import { deadCount, queuesOf, redriveAll, redriveGroup } from './redrive.ts';

/** Dead letters of all queues, by what they failed of. */
export function DeadLettersView() {
  const { api, stack } = useConsole();
  const { run, busy, error, refusal } = useAct();
  const letters = useLoad('dead letters', (signal) => api.get<DeadLetters>('/api/dead-letters', signal));
  useRefresh(letters, stack.local ? REFRESH : undefined);
  useTaskEnds(letters.reload);
  const { value } = letters;
  const groups = value?.groups ?? [];
  const total = deadCount(groups);
  return (
    <div class="page">
      <div class="stack">
        {letters.error !== undefined && <ErrorNote>{letters.error}</ErrorNote>}
        {letters.value === undefined && letters.error === undefined && <Loading />}
        {error !== undefined && <ErrorNote>{error}</ErrorNote>}
        <Problems
          problems={[
            ...(value?.problems ?? []),
            ...(value?.limited ?? []).map((queue) => `${queue} has more than were looked at.`),
          ]}
        />
        {value !== undefined && total === 0 && (
          <Empty title="No dead letters">
            <p>
              What no consumer can carry out, or what has failed ten times, ends here with its reason, and is
              kept for 14 days. Once the cause is gone, a redrive sends it to its consumer again.
            </p>
            {stack.local && (
              <p>
                To see one, send a delivery without what its event needs, or break a service under{' '}
                <a href="#/faults">Faults</a>.
              </p>
            )}
          </Empty>
        )}
        {total > 0 && (
          <>
            <header class="page-head rows-head">
              <h2>
                {total.toLocaleString('en')} {total === 1 ? 'dead letter' : 'dead letters'},{' '}
                {groups.length === 1 ? 'one reason' : `${groups.length} reasons`}
              </h2>
              {!stack.local && (
                <Button kind="quiet" onClick={letters.reload}>
                  Look again
                </Button>
              )}
              <ActButton refusal={refusal} busy={busy} onClick={() => run(redriveAll(groups))}>
                Redrive all
              </ActButton>
            </header>
            <table class="table letter-table">
              <caption class="visually-hidden">Dead letters by reason</caption>
              <thead>
                <tr>
                  <th scope="col">Reason</th>
                  <th scope="col">Events</th>
                  <th scope="col" class="number">
                    Count
                  </th>
                  <th scope="col" class="number">
                    First
                  </th>
                  <th scope="col" class="number">
                    Last
                  </th>
                  <th scope="col">
                    <span class="visually-hidden">Redrive</span>
                  </th>
                </tr>
              </thead>
              {groups.map((group) => (
                <Group key={group.reason} group={group} refusal={refusal} busy={busy} run={run} />
              ))}
            </table>
          </>
        )}
      </div>
    </div>
  );
}

interface GroupProps {
  group: DeadLetterGroup;
  refusal: string | undefined;
  busy: boolean;
  run: (actions: readonly Action[]) => void;
}

function Group({ group, refusal, busy, run }: GroupProps) {
  const { reason, count, firstAt, lastAt } = group;
  const [open, setOpen] = useState(false);
  return (
    <tbody>
      <tr class={open ? 'is-disclosed' : undefined}>
        <th scope="row" class="letter-reason">
          <button type="button" class="disclose" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Visible text={reason} />
          </button>
        </th>
        <td>
          <ul class="event-counts">
            {queuesOf(group).map(({ queue, count: own }) => (
              <li key={queue}>
                {queue} <span class="soft">{own}</span>
              </li>
            ))}
          </ul>
        </td>
        <td class="number">{count.toLocaleString('en')}</td>
        <td class="number">
          <Age at={firstAt} suffix=" ago" />
        </td>
        <td class="number">
          <Age at={lastAt} suffix=" ago" />
        </td>
        <td class="act">
          <ActButton
            kind="quiet"
            refusal={refusal}
            busy={busy}
            label={`Redrive ${count === 1 ? 'it' : 'these'}: ${reason}`}
            onClick={() => run(redriveGroup(group))}
          >
            Redrive {count === 1 ? 'it' : 'these'}
          </ActButton>
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={6} class="disclosed">
            <DeadLetterMessages group={group} refusal={refusal} busy={busy} run={run} />
          </td>
        </tr>
      )}
    </tbody>
  );
}
