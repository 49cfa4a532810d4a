import { signal } from '@preact/signals';
import { useRef, useState } from 'preact/hooks';
import { shellWord } from '../../terminal/text.ts';
import type { Task, TaskRequest } from '../api.ts';
import { ApiError, api, errorText } from './api.ts';
import { formatRoute } from './route.ts';
import { connection, putTask, refusal, stack, tasks } from './store.ts';
import { Button } from './ui/button.tsx';
import { Copy } from './ui/copy.tsx';
import { Dialog, openDialog } from './ui/dialog.tsx';
import { toastError, toastInfo } from './ui/notices.tsx';

/**
 * For buttons that run commands whose output matters: it opens the output.
 * @returns `start` runs commands and returns the tasks that it started, or undefined if none. `error` says why not all
 * were started
 */
export function useRun({ opens = true } = {}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const start = async (commands: readonly Command[]): Promise<readonly Task[] | undefined> => {
    setBusy(true);
    setError(undefined);
    const done = await run(commands);
    setError(done?.error);
    setBusy(false);
    if (done === undefined || done.begun.length === 0) return undefined;
    if (opens) {
      shownTask.value = done.begun.at(-1)?.id;
      tasksAreOpen.value = true;
    }
    return done.begun;
  };
  return { start, busy, error, refusal: refusal() };
}

/**
 * For buttons that send one delivery: the result appears in the list.
 * @param onError called with the error, if a toast would not be visible
 */
export function useSend(onError: (text: string) => void = toastError) {
  const [busy, setBusy] = useState(false);
  /** A ref has the current value. `busy` has the value of the last render. */
  const isSending = useRef(false);
  /** @param onSent called with the request's id; without it a link is shown @returns whether it was sent */
  const send = async (command: Command, onSent?: (delivery: string) => void): Promise<boolean> => {
    const refused = refusal();
    if (refused !== undefined) onError(refused);
    if (refused !== undefined || isSending.current) return false;
    isSending.current = true;
    setBusy(true);
    try {
      return await sendOne(command, onSent);
    } catch (error) {
      onError(errorText(error));
      return false;
    } finally {
      isSending.current = false;
      setBusy(false);
    }
  };
  return { send, busy, refusal: refusal() };
}

/** @throws Error that says why nothing was sent */
async function sendOne(command: Command, onSent?: (delivery: string) => void): Promise<boolean> {
  const dialog = openDialog();
  const { begun: [begun] = [], error } = (await run([command])) ?? {};
  if (error !== undefined) throw new Error(error);
  if (begun === undefined) return false;
  const { state, lines, deliveries } = await taskEnd(begun);
  const [delivery] = deliveries;
  // A delivery that got an error answer was sent, and is in the list.
  if (state === 'failed' && delivery === undefined) throw new Error(lines.join('\n'));
  // Navigating would close a dialog that was opened meanwhile, and lose its input.
  const isFree = openDialog() === null || openDialog() === dialog;
  if (delivery !== undefined && onSent !== undefined && isFree) onSent(delivery);
  else toastInfo('Sent.', delivery === undefined ? undefined : linkTo(delivery));
  return true;
}

const linkTo = (delivery: string) => ({
  text: 'Show it',
  href: formatRoute({ view: 'deliveries', path: [delivery] }),
});

export interface Command extends TaskRequest {
  /** A sentence about what it does. On a stage it is shown with the confirmation. */
  readonly does: string;
  /** It only reads, so it needs no confirmation. */
  readonly reads?: boolean;
}

const commandText = ([script, ...words]: readonly string[]) =>
  `npx hookctl ${script} ${words.map(shellWord).join(' ')}${stack.commandSuffix}`;

/** The task whose output is open. Undefined: none, or the newest. */
export const shownTask = signal<string | undefined>(undefined);
export const tasksAreOpen = signal(false);

interface Confirm {
  readonly commands: readonly Command[];
  readonly answer: (confirmed: boolean) => void;
}

const question = signal<Confirm | undefined>(undefined);

/** The tasks that were started, and why the next one was not. */
interface Begun {
  readonly begun: readonly Task[];
  readonly error?: string;
}

/**
 * Runs commands, one after the other. On a stage, a dialog asks first. @returns undefined if the user did not confirm
 */
async function run(commands: readonly Command[]): Promise<Begun | undefined> {
  if (!stack.local && commands.some(({ reads }) => reads !== true) && !(await confirmed(commands))) {
    return undefined;
  }
  const begun: Task[] = [];
  for (const { argv, input } of commands) {
    try {
      const task = await api.run({ argv, input });
      putTask(task);
      begun.push(task);
    } catch (failure) {
      const some = begun.length === 0 ? '' : `Started ${begun.length} of ${commands.length}. `;
      return { begun, error: `${some}${errorText(failure)}` };
    }
  }
  return { begun };
}

async function confirmed(commands: readonly Command[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  question.value?.answer(false);
  question.value = { commands, answer: resolve };
  const answer = await promise;
  if (question.value?.answer === resolve) question.value = undefined;
  return answer;
}

/** Asks before a stage is changed, and shows the equivalent commands. */
export function Confirmation() {
  if (question.value === undefined) return null;
  const { commands, answer } = question.value;
  const many = commands.length > 1;
  const texts = commands.map(({ argv }) => commandText(argv));
  return (
    <Dialog
      title={`Change ${stack.title}?`}
      onClose={() => answer(false)}
      width={many ? 'wide' : 'narrow'}
      actions={
        <>
          <Button onClick={() => answer(false)}>Cancel</Button>
          <Button kind="primary" onClick={() => answer(true)}>
            {many ? `Run ${commands.length} commands` : 'Run this command'}
          </Button>
        </>
      }
    >
      <div class="stack">
        {[...new Set(commands.map(({ does }) => does))].map((does) => (
          <p key={does}>{does}</p>
        ))}
        <p class="soft">{many ? 'The same in a terminal, one by one:' : 'The same in a terminal:'}</p>
        <ul class="stack">
          {texts.map((text) => (
            <li key={text} class="row">
              <code class="command grow">{text}</code>
              <Copy text={text} label="Copy the command" />
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}

/**
 * Milliseconds between polls for the end of a task. Used if the stream, which reports the end at once, is disconnected.
 */
const ASKED_EVERY = 1_000;

/** Resolves with the task when it has ended. */
export async function taskEnd(task: Task): Promise<Task> {
  for (;;) {
    const newest = tasks.value.find(({ id }) => id === task.id) ?? task;
    if (newest.state !== 'running') return newest;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(end, ASKED_EVERY);
      const unsubscribe = tasks.subscribe(
        (all) => all.some((one) => one.id === task.id && one !== newest) && end(),
      );
      function end() {
        clearTimeout(timer);
        unsubscribe?.();
        resolve();
      }
    });
    if (connection.value.state === 'live') continue;
    try {
      putTask(await api.task(task.id));
    } catch (error) {
      // If there was no answer, the server may come back.
      if (!(error instanceof ApiError) || error.status !== 0) throw error;
    }
  }
}
