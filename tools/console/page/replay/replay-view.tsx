import { useState } from 'preact/hooks';
import type { Task } from '../../api.ts';
import { Button } from '../shared/button.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { useLive } from '../stream/use-live.ts';
import { ActButton } from '../tasks/act-button.tsx';
import { Interrupt } from '../tasks/interrupt.tsx';
import { TaskLines } from '../tasks/task-lines.tsx';
import { TaskState } from '../tasks/task-state.tsx';
import { useAct } from '../tasks/tasks-context.tsx';
import { ReplayFields } from './replay-fields.tsx';
import {
  emptyForm,
  type FormProblems,
  formProblems,
  isPlanOf,
  type ReplayForm,
  replayAction,
} from './replay-form.ts';

/** A task, and the form that it is of. */
interface Asked {
  readonly id: string;
  readonly form: ReplayForm;
}

/** Sends what the archive has once more: first what that would be, then, once it was seen, the replay itself. */
export function ReplayView() {
  const { run, busy, error, refusal } = useAct();
  const { tasks } = useLive();
  const [form, setForm] = useState(emptyForm);
  const [problems, setProblems] = useState<FormProblems>({});
  const [planned, setPlanned] = useState<Asked>();
  const [sent, setSent] = useState<Asked>();
  const plan = tasks.find(({ id }) => id === planned?.id);
  const replay = tasks.find(({ id }) => id === sent?.id);
  const isCurrent = planned !== undefined && isPlanOf(planned.form, form);

  const start = async (dryRun: boolean) => {
    const found = formProblems(form);
    setProblems(found);
    const [first] = Object.keys(found);
    if (first !== undefined) {
      const field = document.querySelector<HTMLElement>(`[name="${first}"]`);
      // What is folded away takes no focus.
      field?.closest('details')?.setAttribute('open', '');
      field?.focus();
      return;
    }
    const [task] = (await run([replayAction(form, dryRun)])) ?? [];
    if (task === undefined) return;
    if (dryRun) {
      setPlanned({ id: task.id, form });
      setSent(undefined);
    } else setSent({ id: task.id, form });
  };

  return (
    <div class="page">
      <div class="page-inner replay">
        <form
          class="replay-form"
          aria-label="Replay"
          noValidate
          onSubmit={(submit) => {
            submit.preventDefault();
            start(true);
          }}
        >
          <ReplayFields
            form={form}
            problems={problems}
            onChange={(change) => setForm({ ...form, ...change })}
          />
          <Button
            kind={isCurrent ? 'normal' : 'primary'}
            type="submit"
            disabled={busy || plan?.state === 'running' || replay?.state === 'running'}
          >
            Show the plan
          </Button>
        </form>
        <section class="replay-plan" aria-label="Plan and progress">
          {error !== undefined && <ErrorNote>{error}</ErrorNote>}
          {plan === undefined ? (
            <div class="replay-intro">
              <h2>From the archive, once more</h2>
              <p>
                The archive keeps each delivery that was settled. A replay sends those of a time to their
                queues again: after an outage, to fill what is missing; after a bug of ours, to repair what is
                wrong.
              </p>
              <p>
                Its plan says what would be sent, what that costs and how long it takes. It sends nothing.
              </p>
            </div>
          ) : (
            <>
              {/* A replay says its plan itself, before its progress. */}
              <TaskPart
                {...(replay === undefined
                  ? { title: 'Plan', task: plan }
                  : { title: 'Replay', task: replay })}
              />
              {plan.state === 'done' && sent === undefined && (
                <div class="replay-confirm">
                  <p class="soft">
                    {isCurrent
                      ? 'Nothing has been sent yet.'
                      : 'This plan is of another form than the one beside it: show its plan first.'}
                  </p>
                  <ActButton
                    kind="primary"
                    refusal={refusal ?? (isCurrent ? undefined : 'Show the plan of this form first')}
                    busy={busy}
                    onClick={() => start(false)}
                  >
                    Replay this
                  </ActButton>
                </div>
              )}
            </>
          )}
        </section>
      </div>
    </div>
  );
}

function TaskPart({ title, task }: { title: string; task: Task }) {
  return (
    <div class="task-part">
      <header>
        <h2 class="task-title">{title}</h2>
        <TaskState state={task.state} />
        <code class="task-command soft">{task.command}</code>
        {task.state === 'running' && <Interrupt key={task.id} id={task.id} />}
      </header>
      <TaskLines task={task} />
    </div>
  );
}
