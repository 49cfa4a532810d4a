import { signal, useSignal } from '@preact/signals';
import type { CommandRun } from '../api.ts';
import { api, errorText } from './api.ts';
import type { Command } from './command.ts';
import { confirmed } from './confirmation.tsx';
import { formatRoute } from './route.ts';
import { commandEnded, refusal, stack } from './store.ts';
import { openDialog } from './ui/dialog.tsx';
import { closeToast, type Toast, toast, toastError } from './ui/notices.tsx';

/** Commands of this page that run now. */
export const running = signal<readonly Command[]>([]);

interface RunOptions {
  /** Called with an error, where a toast would not be visible. @default shows a toast */
  readonly onError?: (text: string) => void;
  /** Called with the id of the delivery that the command sent. @default the toast has a link to it */
  readonly onSent?: ((delivery: string) => void) | undefined;
}

/**
 * Runs commands, for buttons. A toast says what they did, with their output.
 * @returns `start`, which resolves with the commands that have ended
 */
export function useRun() {
  const busy = useSignal(false);
  const start = async (
    commands: readonly Command[],
    options: RunOptions = {},
  ): Promise<readonly CommandRun[]> => {
    const { onError = toastError } = options;
    const refused = refusal();
    const changes = commands.some(({ reads }) => reads !== true);
    if (refused !== undefined && changes) onError(refused);
    if ((refused !== undefined && changes) || busy.peek()) return [];
    busy.value = true;
    try {
      if (changes && !stack.local && !(await confirmed(commands))) return [];
      return await runAll(commands, options);
    } finally {
      busy.value = false;
    }
  };
  return { start, busy: busy.value, refusal: refusal() };
}

/** Runs commands one after the other, until one fails. */
async function runAll(
  commands: readonly Command[],
  { onError, onSent }: RunOptions,
): Promise<readonly CommandRun[]> {
  const dialog = openDialog();
  const ended: CommandRun[] = [];
  running.value = [...running.value, ...commands];
  const progress = followToast(commands.length);
  try {
    for (const command of commands) {
      const run = await api.run(command, (now) => progress.update(now, ended.length));
      ended.push(run);
      if (hasFailed(run)) break;
    }
    const result = resultOf(commands, ended);
    if (onError !== undefined && ended.some(hasFailed)) onError(result.text);
    else show(result, ended, progress.stop(), { dialog, onSent });
  } catch (failure) {
    const some = ended.length === 0 ? '' : `${ended.length} of ${commands.length} done. `;
    (onError ?? toastError)(`${some}${errorText(failure)}`);
  } finally {
    progress.close();
    running.value = running.value.filter((command) => !commands.includes(command));
    commandEnded();
  }
  return ended;
}

/** Shows a result in a toast, and opens the delivery that was sent, or links to it. */
function show(
  result: Toast,
  ended: readonly CommandRun[],
  replaced: number | undefined,
  { dialog, onSent }: Pick<RunOptions, 'onSent'> & { dialog: Element | null },
): void {
  const [delivery, ...others] = ended.flatMap(({ deliveries }) => deliveries);
  // Opens the new delivery only if no other dialog was opened meanwhile: its input would be lost.
  const isFree = openDialog() === null || openDialog() === dialog;
  const opens = delivery !== undefined && others.length === 0 && onSent !== undefined && isFree;
  const link =
    delivery !== undefined && others.length === 0 && !opens
      ? { text: 'Show it', to: formatRoute({ view: 'deliveries', path: [delivery] }) }
      : undefined;
  toast({ ...result, ...(link && { link }) }, replaced);
  if (opens) onSent(delivery);
}

/** Milliseconds after which a toast says that commands are running. */
const LONG_RUN = 1_000;

/** A toast with the progress of commands that run long. */
function followToast(count: number) {
  let latest: { readonly run: CommandRun; readonly done: number } | undefined;
  let id: number | undefined;
  const show = () => {
    if (latest === undefined) return;
    const { run, done } = latest;
    const { progress, command, lines } = run;
    const step =
      progress && `: ${progress.done.toLocaleString('en')} of ${progress.total.toLocaleString('en')}`;
    const which =
      count === 1 ? command.replace(/^npx hookctl | --.*/g, '') : `${done + 1} of ${count} commands`;
    const cancel = () => api.interrupt(run.id).catch((error) => toastError(errorText(error)));
    id = toast({ level: 'running', text: `Running ${which}${step ?? ' …'}`, lines, cancel }, id);
  };
  const timer = setTimeout(show, LONG_RUN);
  return {
    update(run: CommandRun, done: number) {
      latest = { run, done };
      if (id !== undefined) show();
    },
    /** @returns the id of the toast, for the result that replaces it */
    stop() {
      clearTimeout(timer);
      const shown = id;
      id = undefined;
      return shown;
    },
    close() {
      const shown = this.stop();
      if (shown !== undefined) closeToast(shown);
    },
  };
}

/**
 * Whether a command failed without an answer. An error answer to a delivery is no failure here: the toast says the answer.
 */
const hasFailed = ({ state, answers }: CommandRun) => state !== 'done' && answers.length === 0;

/** What commands did, in one toast. */
function resultOf(commands: readonly Command[], ended: readonly CommandRun[]): Toast {
  const answers = ended.flatMap((run) => run.answers);
  const lines = ended.flatMap((run) => [`$ ${run.command}`, ...run.lines]);
  const failed = ended.find(hasFailed);
  if (failed?.state === 'interrupted') return { level: 'info', text: 'Interrupted.', lines };
  if (failed !== undefined) return { level: 'error', text: failed.lines.at(-1) ?? 'It failed.', lines };
  if (answers.length === 0) {
    const did = [...new Set(commands.map((command) => command.did))].join(' ');
    return { level: 'info', text: did, lines };
  }
  const isAccepted = answers.every(({ status }) => status === 200);
  return { level: isAccepted ? 'info' : 'error', text: answersText(answers), lines };
}

/**
 * The answers to sent deliveries: `Answered 401: Invalid signature.`, or `Sent 3: 2 answered 200, 1 answered
 * 401.`
 */
export function answersText(answers: CommandRun['answers']): string {
  const [first, ...others] = answers;
  if (first === undefined) return 'Sent.';
  if (others.length === 0)
    return `Answered ${first.status}${first.text === '' ? '' : `: ${first.text.replace(/\.$/, '')}`}.`;
  const counts = [...Map.groupBy(answers, ({ status }) => status)].sort(([one], [other]) => one - other);
  return `Sent ${answers.length}: ${counts.map(([status, of]) => `${of.length} answered ${status}`).join(', ')}.`;
}
