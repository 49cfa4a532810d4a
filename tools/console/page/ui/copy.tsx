import { errorText } from '../api.ts';
import { IconButton } from './button.tsx';
import { toastError, toastInfo } from './toasts.ts';

/** @param label what the button copies: `Copy the event id` */
export const Copy = ({ text, label }: { text: string; label: string }) => (
  <IconButton class="copy" icon="copy" label={label} onClick={() => copyAndSay(text, 'Copied.')} />
);

/** Characters of a hash or a UUID that identify it well enough for a reader. */
const SHORT_ID_LENGTH = 8;

export const shortId = (id: string) => id.slice(0, SHORT_ID_LENGTH);

/**
 * Copies a text. A toast says so, or reports an error.
 * @param text a promise if it is loaded first: Safari allows a copy only if it starts during the click
 */
export async function copyAndSay(text: string | Promise<string>, said: string): Promise<void> {
  try {
    const blob = Promise.resolve(text).then((known) => new Blob([known], { type: 'text/plain' }));
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
    toastInfo(said);
  } catch (error) {
    toastError(`Not copied: ${errorText(error)}`);
  }
}
