import { useRef } from 'preact/hooks';
import { Button } from '../shared/button.tsx';
import { Copy } from '../shared/copy.tsx';
import { Icon } from '../shared/icon.tsx';
import { useLive } from '../stream/use-live.ts';
import { Interrupt } from './interrupt.tsx';
import { TaskLines } from './task-lines.tsx';
import { TaskState } from './task-state.tsx';
import { useTasks } from './tasks-context.tsx';

const DOCK = 'task-dock';

/** Opens and closes the dock, and says how many tasks run. */
export function TasksButton() {
  const { open, setOpen, select } = useTasks();
  const running = useLive().tasks.filter(({ state }) => state === 'running').length;
  return (
    <Button
      kind="quiet"
      class="tasks-button"
      id={`${DOCK}-button`}
      aria-expanded={open}
      aria-controls={DOCK}
      onClick={() => {
        select(undefined);
        setOpen(!open);
      }}
    >
      Tasks
      {running > 0 && <span class="tasks-running">{running} running</span>}
    </Button>
  );
}

/** What was done from the page, newest first: the commands that stand for it, and what they say. */
export function TaskDock() {
  const { open, setOpen, selected, select } = useTasks();
  const { tasks } = useLive();
  const element = useRef<HTMLElement>(null);
  const shown = tasks.find(({ id }) => id === selected) ?? tasks[0];
  const close = () => {
    if (element.current?.contains(document.activeElement)) document.getElementById(`${DOCK}-button`)?.focus();
    setOpen(false);
  };
  return (
    <>
      <div class="visually-hidden" role="status">
        {shown !== undefined && shown.state !== 'running' && shown.id === selected
          ? `${shown.state === 'done' ? 'Done' : 'Failed'}: ${shown.command}`
          : ''}
      </div>
      {open && (
        <section
          ref={element}
          id={DOCK}
          class="dock"
          aria-label="Tasks"
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            close();
          }}
        >
          <header class="dock-head">
            <h2>Tasks</h2>
            <p class="soft">What was done from this console, as the commands that do the same.</p>
            <button type="button" class="icon-button" aria-label="Close the tasks" onClick={close}>
              <Icon name="close" />
            </button>
          </header>
          {shown === undefined ? (
            <p class="dock-empty soft">
              Nothing yet. A redrive, a pause, a replay or a delivery that is sent shows here while it runs.
            </p>
          ) : (
            <div class="dock-body">
              <ol class="dock-list" aria-label="Tasks, newest first">
                {tasks.map((task) => (
                  <li key={task.id}>
                    <button
                      type="button"
                      aria-current={task === shown ? 'true' : undefined}
                      onClick={() => select(task.id)}
                    >
                      <code class="dock-name">{task.command.replace(/^npm run /, '')}</code>
                      <TaskState state={task.state} />
                    </button>
                  </li>
                ))}
              </ol>
              <div class="dock-task">
                <div class="dock-command">
                  <code class="dock-prompt">
                    <span class="prompt" aria-hidden="true">
                      ${' '}
                    </span>
                    {shown.command}
                  </code>
                  <Copy text={shown.command} label="Copy the command" />
                  {shown.state === 'running' && <Interrupt key={shown.id} id={shown.id} />}
                </div>
                <TaskLines key={shown.id} task={shown} />
              </div>
            </div>
          )}
        </section>
      )}
    </>
  );
}
