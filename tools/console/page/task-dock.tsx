import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Block, ProgressStep } from '../../terminal/block.ts';
import type { Task } from '../api.ts';
import { api, errorText } from './api.ts';
import { tasks } from './store.ts';
import { Sentence } from './text/visible.tsx';
import { Badge, type BadgeTone } from './ui/badge.tsx';
import { Button, IconButton } from './ui/button.tsx';
import { Copy } from './ui/copy.tsx';
import { toastError } from './ui/notices.tsx';
import { Table, type TableColumn } from './ui/table.tsx';
import { durationText, Time } from './ui/time.tsx';
import { shownTask, tasksAreOpen } from './use-run.tsx';

export function TaskDock() {
  const element = useRef<HTMLElement>(null);
  const cameFrom = useRef<HTMLElement | undefined>(undefined);
  const shown = tasks.value.find(({ id }) => id === shownTask.value) ?? tasks.value[0];
  const close = () => {
    if (element.current?.contains(document.activeElement)) {
      const back = cameFrom.current?.isConnected
        ? cameFrom.current
        : document.getElementById(`${DOCK}-button`);
      back?.focus();
    }
    tasksAreOpen.value = false;
  };
  return (
    <>
      <div class="visually-hidden" role="status">
        {shown !== undefined && shown.state !== 'running' && shown.id === shownTask.value
          ? `${STATES[shown.state].text}: ${shown.command}`
          : ''}
      </div>
      {tasksAreOpen.value && (
        <section
          ref={element}
          id={DOCK}
          class="dock"
          aria-label="Tasks"
          tabIndex={-1}
          onFocusIn={({ relatedTarget }) => {
            if (!(relatedTarget instanceof HTMLElement) || element.current?.contains(relatedTarget)) return;
            cameFrom.current = relatedTarget;
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            close();
          }}
        >
          <header class="row">
            <h2>Tasks</h2>
            <p class="grow soft">Commands that this console has run.</p>
            <IconButton icon="close" label="Close tasks" onClick={close} />
          </header>
          {shown === undefined ? (
            <p class="dock-task soft">
              No tasks yet. Redrive, pause or send something: the command and its output appear here.
            </p>
          ) : (
            <div class="dock-body">
              <div>
                <Table
                  label="Tasks, newest first"
                  columns={COLUMNS}
                  rows={tasks.value}
                  idOf={({ id }) => id}
                  current={shown.id}
                  onOpen={(id) => {
                    shownTask.value = id;
                  }}
                  onEnter={() => document.getElementById(`${DOCK}-output`)?.focus()}
                />
              </div>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls */}
              <section class="dock-task" id={`${DOCK}-output`} aria-label="Selected task" tabIndex={0}>
                <TaskOutput key={shown.id} task={shown} />
              </section>
            </div>
          )}
        </section>
      )}
    </>
  );
}

const DOCK = 'task-dock';

const STATES: Readonly<Record<Task['state'], { tone: BadgeTone; text: string }>> = {
  running: { tone: 'info', text: 'Running' },
  done: { tone: 'good', text: 'Done' },
  failed: { tone: 'bad', text: 'Failed' },
  interrupted: { tone: 'neutral', text: 'Interrupted' },
};

function TaskState({ task: { state } }: { task: Task }) {
  return <Badge tone={STATES[state].tone}>{STATES[state].text}</Badge>;
}

const COLUMNS: readonly TableColumn<Task>[] = [
  {
    name: 'command',
    heading: 'Command',
    width: 'minmax(0, 1fr)',
    cell: ({ command }) => <code>{command.replace(/^npx hookctl /, '')}</code>,
  },
  { name: 'state', heading: 'State', cell: (task) => <TaskState task={task} /> },
  { name: 'started', heading: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  {
    name: 'took',
    heading: 'Took',
    width: 'max-content',
    end: true,
    cell: ({ startedAt, endedAt }) =>
      endedAt === undefined ? '' : durationText(Date.parse(endedAt) - Date.parse(startedAt)),
  },
];

export function toggleTasks(): void {
  shownTask.value = undefined;
  tasksAreOpen.value = !tasksAreOpen.value;
  if (tasksAreOpen.value) requestAnimationFrame(() => document.getElementById(DOCK)?.focus());
}

export function TasksButton() {
  const running = tasks.value.filter(({ state }) => state === 'running').length;
  const isOpen = tasksAreOpen.value;
  return (
    <Button
      kind="quiet"
      id={`${DOCK}-button`}
      aria-expanded={isOpen}
      aria-controls={isOpen ? DOCK : undefined}
      onClick={toggleTasks}
    >
      Tasks
      {running > 0 && <span class="count tone-info">{running} running</span>}
    </Button>
  );
}

export function TaskOutput({ task, children }: { task: Task; children?: ComponentChildren }) {
  const { id, command, state, progress, blocks, lines } = task;
  return (
    <div class="output stack">
      <div class="row">
        <TaskState task={task} />
        <code class="grow wrap">{command}</code>
        <Copy text={command} label="Copy the command" />
        {state === 'running' && <Interrupt key={id} id={id} />}
        {children}
      </div>
      {state === 'running' && <Progress step={progress} />}
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} failed={state === 'failed' && index === blocks.length - 1} />
      ))}
      {lines.length > 0 && (
        <details>
          <summary>Show command output</summary>
          <Lines lines={lines} command={command} />
        </details>
      )}
    </div>
  );
}

/** Button that ends a command as Ctrl-C does: at a safe point. */
function Interrupt({ id }: { id: string }) {
  const asked = useSignal(false);
  return (
    <Button
      busy={asked.value}
      onClick={async () => {
        asked.value = true;
        try {
          await api.interrupt(id);
        } catch (error) {
          asked.value = false;
          toastError(errorText(error));
        }
      }}
    >
      Interrupt
    </Button>
  );
}

/** Progress bar. Indeterminate until the task reports progress. */
function Progress({ step }: { step: ProgressStep | undefined }) {
  if (step === undefined) return <progress aria-label="Running" />;
  const { doing, done, total, unit, note } = step;
  const count = `${done.toLocaleString('en')} of ${total.toLocaleString('en')}${unit ? ` ${unit}` : ''}`;
  return (
    <div class="row">
      <progress aria-label={doing} value={done} max={Math.max(1, total)} />
      <span>
        {doing}: {count}
        {note ? `, ${note}` : ''}
      </span>
    </div>
  );
}

/** Headings of commands, such as `EVENT` and `mode`, with a capital first letter. */
const inSentenceCase = (text: string) =>
  text.toUpperCase() === text
    ? text.charAt(0) + text.slice(1).toLowerCase()
    : text.replace(/^[a-z]/, (first) => first.toUpperCase());

/** @param failed whether the block contains the reason why the task failed */
function BlockView({ block, failed }: { block: Block; failed: boolean }) {
  switch (block.kind) {
    case 'heading':
      return <h3>{block.text}</h3>;
    case 'text': {
      // The columns of indented lines are aligned by spaces.
      const font = block.text.startsWith('  ') ? 'mono' : undefined;
      return (
        <p class={failed ? 'note tone-bad' : font}>
          <Sentence text={block.text} />
        </p>
      );
    }
    case 'command':
      return (
        <div class="row">
          <span class="soft">{block.text}:</span>
          <code class="grow wrap">{block.command}</code>
          <Copy text={block.command} label="Copy this command" />
        </div>
      );
    case 'fields':
      return (
        <dl class="fields">
          {block.fields.map(([name, value], index) => (
            <div key={index}>
              <dt>{inSentenceCase(name)}</dt>
              <dd>
                <Sentence text={value} />
              </dd>
            </div>
          ))}
        </dl>
      );
    case 'table':
      return (
        <Table
          label={block.columns.map(({ heading }) => inSentenceCase(heading)).join(', ')}
          columns={block.columns.map(({ heading, align }, column) => ({
            name: String(column),
            heading: inSentenceCase(heading),
            end: align === 'right',
            cell: (row: { cells: readonly string[] }) => row.cells[column],
          }))}
          rows={block.rows.map((cells, index) => ({ cells, id: String(index) }))}
          idOf={({ id }) => id}
        />
      );
  }
}

/** Pixels from the end of the output within which the view scrolls with new output. */
const AT_END = 8;

/**
 * The output of a command, as a terminal shows it. If the user has scrolled up, the position does not change.
 */
function Lines({ lines, command }: { lines: readonly string[]; command: string }) {
  const element = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    if (element.current !== null && follows.current) element.current.scrollTop = element.current.scrollHeight;
  }, [lines.length]);
  return (
    <pre
      ref={element}
      class="command scrolled"
      role="log"
      aria-label={`Output of ${command}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < AT_END;
      }}
    >
      {lines.join('\n')}
    </pre>
  );
}
