import { useSignal } from '@preact/signals';
import { shellWord } from '../../terminal/text.ts';
import type { CommandRun } from '../api.ts';
import { api, errorText } from './api.ts';
import type { Command } from './command.ts';
import { openSent } from './deliveries/delivery-rows.ts';
import { commandEnded, refusal, stack } from './store.ts';
import { openDialog } from './ui/dialog.tsx';
import { type Toast, toast, toastError } from './ui/toasts.ts';

/**
 * Runs commands, for buttons. A toast says what they did, with their output. A delivery that they sent is opened.
 * @returns `start`, which resolves with the commands that have ended
 */
export function useRun() {
  const busy = useSignal(false);
  const start = async (commands: readonly Command[]): Promise<readonly CommandRun[]> => {
    if (busy.peek() || !isAllowed(commands)) return [];
    busy.value = true;
    try {
      return await runAll(commands);
    } finally {
      busy.value = false;
    }
  };
  return { start, busy: busy.value, refusal: refusal() };
}

/** Maximum characters of a command in a question. The toast with the result has the whole command. */
const MAX_SHOWN = 300;

/** Asks before a stage is changed. Otherwise a toast says why nothing was changed. */
export function isAllowed(commands: readonly Command[]): boolean {
  const refused = refusal();
  if (refused === undefined && (stack.local || confirm(questionOf(commands)))) return true;
  toast({
    level: refused === undefined ? 'info' : 'error',
    text: refused ?? 'Cancelled. Nothing was changed.',
  });
  return false;
}

/** What the commands do, and each as typed in a terminal. */
function questionOf(commands: readonly Command[]): string {
  const lines = commands.map(({ argv }) => {
    const words = argv.map(shellWord).join(' ');
    const shown = words.length > MAX_SHOWN ? `${words.slice(0, MAX_SHOWN)} …` : words;
    return `npx hookctl ${shown}${stack.commandSuffix}`;
  });
  const does = new Set(commands.map((command) => command.does));
  return [`Change ${stack.title}?`, ...does, ...lines].join('\n\n');
}

/** Runs commands one after the other, until one fails. */
async function runAll(commands: readonly Command[]): Promise<readonly CommandRun[]> {
  const dialog = openDialog();
  const address = location.hash;
  const ended: CommandRun[] = [];
  try {
    for (const command of commands) {
      const run = await api.run(command);
      ended.push(run);
      if (hasFailed(run)) break;
    }
    toast(resultOf(commands, ended));
    const [delivery, ...others] = ended.flatMap(({ sent }) =>
      sent.flatMap(({ requestId }) => requestId ?? []),
    );
    // Opens the new delivery only if the user has opened nothing else meanwhile. Input in another dialog would be lost.
    const isHere = location.hash === address && (openDialog() ?? dialog) === dialog;
    if (delivery !== undefined && others.length === 0 && isHere) openSent(delivery);
  } catch (failure) {
    const some = ended.length === 0 ? '' : `${ended.length} of ${commands.length} done. `;
    toastError(`${some}${errorText(failure)}`);
  } finally {
    commandEnded();
  }
  return ended;
}

/**
 * Whether a command failed without an answer. An error answer to a delivery is no failure here: the toast says the answer.
 */
const hasFailed = ({ state, sent }: CommandRun) => state !== 'done' && sent.length === 0;

/** What commands did, in one toast. */
function resultOf(commands: readonly Command[], ended: readonly CommandRun[]): Toast {
  const answers = ended.flatMap(({ sent }) => sent);
  const lines = ended.flatMap((run) => [`$ ${run.command}`, ...run.lines]);
  const failed = ended.find(hasFailed);
  if (failed !== undefined) return { level: 'error', text: failed.lines.at(-1) ?? 'It failed.', lines };
  if (answers.length === 0) {
    return { level: 'info', text: [...new Set(commands.map(({ did }) => did))].join(' '), lines };
  }
  const isAccepted = answers.every(({ status }) => status === 200);
  return { level: isAccepted ? 'info' : 'error', text: answersText(answers), lines };
}

/** The answers to sent deliveries: `Answered 200: queued.`, or `Sent 3: 2 answered 200, 1 answered 401.` */
export function answersText(answers: readonly { readonly status: number; readonly text: string }[]): string {
  const [first, ...others] = answers;
  if (first === undefined) return 'Sent.';
  if (others.length === 0) {
    return `Answered ${first.status}${first.text === '' ? '' : `: ${first.text.replace(/\.$/, '')}`}.`;
  }
  const counts = [...Map.groupBy(answers, ({ status }) => status)].sort(([one], [other]) => one - other);
  return `Sent ${answers.length}: ${counts.map(([status, of]) => `${of.length} answered ${status}`).join(', ')}.`;
}
