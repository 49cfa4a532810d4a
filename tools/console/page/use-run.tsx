import { signal, useSignal } from '@preact/signals';
import type { Task } from '../api.ts';
import { ApiError, api, errorText } from './api.ts';
import type { Command } from './command.ts';
import { confirmed } from './confirmation.tsx';
import { formatRoute } from './route.ts';
import { connection, putTask, refusal, stack, tasks } from './store.ts';
import { openDialog } from './ui/dialog.tsx';
import { toastError, toastInfo, toastRunning } from './ui/notices.tsx';

/**
 * Runs commands, for buttons. A toast says what the commands did, or why a command was not started. If a command fails,
 * its output opens.
 * @returns `start`, which runs commands and returns the tasks that it started, or undefined if no task was started
 */
export function useRun() {
  const busy = useSignal(false);
  /** @param onEnd called when all commands have ended */
  const start = async (
    commands: readonly Command[],
    onEnd?: () => void,
  ): Promise<readonly Task[] | undefined> => {
    if (busy.peek()) return undefined;
    busy.value = true;
    const { begun = [], error } = (await run(commands)) ?? {};
    busy.value = false;
    if (error !== undefined) toastError(error);
    if (begun.length === 0) return undefined;
    report(commands.slice(0, begun.length), begun).then(onEnd);
    return begun;
  };
  return { start, busy: busy.value, refusal: refusal() };
}

/**
 * Sends one delivery, for buttons. A toast says the answer, and the delivery appears in the list.
 * @param onError called with an error, where a toast would not be visible
 */
export function useSend(onError: (text: string) => void = toastError) {
  const busy = useSignal(false);
  /**
   * @param onSent called with the id of the request. Without it, the toast has a link to the delivery
   * @returns whether the delivery was sent
   */
  const send = async (command: Command, onSent?: (delivery: string) => void): Promise<boolean> => {
    const refused = refusal();
    if (refused !== undefined) onError(refused);
    if (refused !== undefined || busy.peek()) return false;
    busy.value = true;
    try {
      return await sendOne(command, onSent);
    } catch (error) {
      onError(errorText(error));
      return false;
    } finally {
      busy.value = false;
    }
  };
  return { send, busy: busy.value, refusal: refusal() };
}

/** @throws Error whose message says why nothing was sent */
async function sendOne(command: Command, onSent?: (delivery: string) => void): Promise<boolean> {
  const dialog = openDialog();
  const { begun: [begun] = [], error } = (await run([command])) ?? {};
  if (error !== undefined) throw new Error(error);
  if (begun === undefined) return false;
  const { state, answers, lines, deliveries } = await taskEnd(begun);
  const [delivery] = deliveries;
  if (state !== 'done' && answers.length === 0) throw new Error(lines.join('\n'));
  // Opens the new delivery only if no other dialog was opened meanwhile: its input would be lost.
  const isFree = openDialog() === null || openDialog() === dialog;
  const opens = delivery !== undefined && onSent !== undefined && isFree;
  if (opens) onSent(delivery);
  const link = delivery !== undefined && !opens ? linkTo(delivery) : undefined;
  toastInfo(answersText(answers), link, levelOf(answers));
  return true;
}

const linkTo = (delivery: string) => ({
  text: 'Show it',
  to: formatRoute({ view: 'deliveries', path: [delivery] }),
});

/**
 * Whether a task failed without an answer. An error answer to a delivery is no failure here: the toast says the answer.
 */
const hasFailed = ({ state, answers }: Task) => state === 'failed' && answers.length === 0;

/**
 * The answers to sent deliveries: `Answered 401: Invalid signature.`, or `Sent 3: 2 answered 200, 1 answered
 * 401.`
 */
export function answersText(answers: Task['answers']): string {
  const [first, ...others] = answers;
  if (first === undefined) return 'Sent.';
  if (others.length === 0)
    return `Answered ${first.status}${first.text === '' ? '' : `: ${first.text.replace(/\.$/, '')}`}.`;
  const counts = [...Map.groupBy(answers, ({ status }) => status)].sort(([one], [other]) => one - other);
  return `Sent ${answers.length}: ${counts.map(([status, of]) => `${of.length} answered ${status}`).join(', ')}.`;
}

const levelOf = (answers: Task['answers']) =>
  answers.every(({ status }) => status === 200) ? 'info' : 'error';

/** Id of the task whose output is open. Undefined: no output is open, or the output of the newest task. */
export const shownTask = signal<string | undefined>(undefined);
export const tasksAreOpen = signal(false);

function showOutput(id: string): void {
  shownTask.value = id;
  tasksAreOpen.value = true;
}

/** Milliseconds after which a toast says that commands are running. */
const LONG_RUN = 1_000;

/** When all commands have ended, says in one toast what they did. Opens the output of a command that failed. */
async function report(commands: readonly Command[], begun: readonly Task[]): Promise<void> {
  const did = [...new Set(commands.flatMap(({ did }) => did ?? []))].join(' ');
  const [first] = begun;
  if (did === '' || first === undefined) return;
  const output = ({ id }: Task) => ({ text: 'Show output', to: () => showOutput(id) });
  const what =
    begun.length === 1 ? first.command.replace(/^npx hookctl | --.*/g, '') : `${begun.length} commands`;
  let close = () => {};
  const timer = setTimeout(() => {
    close = toastRunning(`Running: ${what} …`, output(first));
  }, LONG_RUN);
  try {
    const ended = await Promise.all(begun.map(taskEnd));
    const answers = ended.flatMap((task) => task.answers);
    const failed = ended.find(hasFailed);
    const interrupted = ended.find(({ state }) => state === 'interrupted');
    if (failed !== undefined) showOutput(failed.id);
    else if (interrupted !== undefined) toastInfo('Interrupted.', output(interrupted));
    else toastInfo(answers.length === 0 ? did : answersText(answers), output(first), levelOf(answers));
  } catch (failure) {
    toastError(`It is unknown how ${what} ended: ${errorText(failure)}`);
  }
  clearTimeout(timer);
  close();
}

/** Result of starting commands: the tasks that were started, and why the next command was not. */
interface Begun {
  readonly begun: readonly Task[];
  readonly error?: string;
}

/**
 * Runs commands one after the other. On a stage, a dialog asks first.
 * @returns undefined if the user did not confirm
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

/**
 * Milliseconds between requests for a task's state. The requests are needed only while the stream, which reports the
 * end of the task, is disconnected.
 */
const POLL_INTERVAL = 1_000;

/** Resolves with the task when it has ended. */
export async function taskEnd(task: Task): Promise<Task> {
  for (;;) {
    const newest = tasks.value.find(({ id }) => id === task.id) ?? task;
    if (newest.state !== 'running') return newest;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(end, POLL_INTERVAL);
      const unsubscribe = tasks.subscribe(
        (all) => all.some((one) => one.id === task.id && one !== newest) && end(),
      );
      function end() {
        clearTimeout(timer);
        unsubscribe();
        resolve();
      }
    });
    if (connection.value.state === 'live') continue;
    try {
      putTask(await api.task(task.id));
    } catch (error) {
      // Without an answer, the server may come back, so the request is repeated.
      if (!(error instanceof ApiError) || error.status !== 0) throw error;
    }
  }
}
