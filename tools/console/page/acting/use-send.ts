import { useRef, useState } from 'preact/hooks';
import type { Action } from '../../api.ts';
import { errorText } from '../shared/error-text.ts';
import { useConsole } from '../shell/context.ts';
import { formatRoute } from '../shell/route.ts';
import { showToast } from '../shell/toasts.tsx';
import { useTasks } from '../tasks/tasks-context.tsx';
import { taskEnd } from './task-end.ts';

interface Sender {
  /** Why nothing can be sent here. */
  readonly refusal: string | undefined;
  readonly busy: boolean;
  /**
   * Sends something, and says what came of it; nothing while the last one is on its way.
   * @param onSent takes the id of the delivery where it is known; a link to it is shown otherwise
   * @returns whether it was sent
   */
  readonly send: (action: Action, onSent?: (delivery: string) => void) => Promise<boolean>;
}

const toastError = (text: string) => showToast({ level: 'error', text });

/** @param onError takes what failed, where a toast would not be seen */
export function useSend(onError: (text: string) => void = toastError): Sender {
  const { api, live } = useConsole();
  const { act, refusal } = useTasks();
  const [busy, setBusy] = useState(false);
  /** Of this moment: `busy` is of the last drawing. */
  const isSending = useRef(false);
  const send = async (action: Action, onSent?: (delivery: string) => void): Promise<boolean> => {
    if (refusal !== undefined) {
      onError(`${refusal}.`);
      return false;
    }
    if (isSending.current) return false;
    const dialog = openDialog();
    isSending.current = true;
    setBusy(true);
    try {
      const [begun] = (await act([action])) ?? [];
      if (begun === undefined) return false;
      const task = await taskEnd(begun, live, api);
      if (task.state === 'failed') {
        onError(task.lines.join('\n'));
        return false;
      }
      // Going there would take away a dialog that was opened meanwhile, and what was written in it.
      const isFree = openDialog() === null || openDialog() === dialog;
      if (task.delivery !== undefined && onSent !== undefined && isFree) onSent(task.delivery);
      else showToast(sentToast(task.delivery));
      return true;
    } catch (error) {
      onError(errorText(error));
      return false;
    } finally {
      isSending.current = false;
      setBusy(false);
    }
  };
  return { refusal, busy, send };
}

const openDialog = () => document.querySelector('dialog[open]');

function sentToast(delivery: string | undefined) {
  const toast = { level: 'info', text: 'Sent.' } as const;
  if (delivery === undefined) return toast;
  return { ...toast, link: { text: 'Show it', href: formatRoute({ view: 'deliveries', path: [delivery] }) } };
}
