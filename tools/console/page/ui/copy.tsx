import { useSignal } from '@preact/signals';
import { errorText } from '../api.ts';
import { IconButton } from './button.tsx';
import { toastError, toastInfo } from './toasts.ts';

/** Milliseconds for which the button shows that the text was copied. */
const COPIED_SHOWN_MS = 1_500;

/** @param label what the button copies: `Copy the event id` */
export function Copy({ text, label }: { text: string; label: string }) {
  const copied = useSignal(false);
  return (
    <IconButton
      class="copy"
      icon={copied.value ? 'check' : 'copy'}
      label={copied.value ? 'Copied' : label}
      onClick={async () => {
        copied.value = await copyText(text);
        setTimeout(() => {
          copied.value = false;
        }, COPIED_SHOWN_MS);
      }}
    />
  );
}

/** Characters of a hash or a UUID that identify it well enough for a reader. */
const SHORT_ID_LENGTH = 8;

export const shortId = (id: string) => id.slice(0, SHORT_ID_LENGTH);

/** @param said text of the toast after success */
export async function copyAndSay(text: string | Promise<string>, said: string): Promise<void> {
  if (await copyText(text)) toastInfo(said);
}

/**
 * Copies a text. A toast reports an error.
 * @param text a promise if it is loaded first: Safari allows a copy only if it starts during the click
 * @returns whether the text was copied
 */
async function copyText(text: string | Promise<string>): Promise<boolean> {
  try {
    if (typeof text === 'string') {
      await navigator.clipboard.writeText(text);
    } else {
      const blob = text.then((known) => new Blob([known], { type: 'text/plain' }));
      await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
    }
    return true;
  } catch (error) {
    toastError(`Not copied: ${errorText(error)}`);
    return false;
  }
}
