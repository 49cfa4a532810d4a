import { type Delivery, isRefused, queueOf } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { type Command, redriveCommand, resendCommand, resumeCommand, sendCommand } from '../command.ts';
import { curlCommand } from '../editor/curl-command.ts';
import { editBody } from '../editor/editor.tsx';
import { stack } from '../store.ts';
import { withTimestamp } from '../text/format-json.ts';
import { copyAndSay } from '../ui/button.tsx';
import type { MenuItem } from '../ui/menu.tsx';
import { toastError } from '../ui/toasts.ts';
import { useRun } from '../use-run.tsx';

/** Maximum characters of a text to edit. In a longer text, each key press takes a browser seconds. */
const MAX_EDITED_LENGTH = 200_000;

type Headers = DeliveryDetail['request']['headers'];

/** All actions for a delivery. The next thing that a person would do comes first. */
export function useActions(delivery: Delivery, headers: Headers = []) {
  const { id, event = '', state } = delivery;
  const { start, busy, refusal } = useRun();
  const runs = ({ command, ...item }: CommandItem): MenuItem => ({
    ...item,
    refusal: refusal ?? item.refusal,
    onChoose: () => start([command]),
  });
  const changesBody = (label: string, act: (text: string) => unknown): MenuItem => ({
    label,
    refusal: refusal ?? (stack.local ? undefined : 'Only the local stack accepts changed bodies.'),
    onChoose: async () => {
      const text = await bodyText(id);
      if (text !== undefined) act(text);
    },
  });
  const sendNew: MenuItem = {
    ...changesBody('Send as new event', (text) => start([sendCommand(withTimestamp(text) ?? text)])),
    note: 'The timestamp is now, the signature is new.',
  };
  const edit: MenuItem = {
    ...changesBody('Edit and send', (text) => editBody(`Edit and send ${event}`, text)),
    keyHint: 'e',
  };
  const copyCurl = () => copyAndSay(curlOf(id, headers), 'Copied as curl, with openssl to sign it.');
  // For a delivery that waits for a person, recovery comes first: sending the event again would add a duplicate.
  const [first = edit, ...more] = [
    ...recoveriesOf(delivery).map(runs),
    ...(isRefused(state) ? [] : [sendNew]),
    ...resendsOf(delivery, headers).map(runs),
  ];
  const main: MenuItem = { ...first, keyHint: 'r' };
  const primary = state === 'invalid' && stack.local ? edit : main;
  // For a delivery of a stage that needs nobody, there is nothing to do. The menu says why.
  const hasPrimary = stack.local || first !== sendNew;
  return {
    copyCurl,
    keys: { r: byKey(main), e: byKey(edit), c: copyCurl },
    primary: hasPrimary ? primary : undefined,
    others: [main, ...more, edit].filter((action) => !hasPrimary || action !== primary),
    busy,
  };
}

/** The action of a shortcut. A button shows why its action is refused; a shortcut needs a toast for that. */
const byKey = ({ refusal, onChoose }: MenuItem) =>
  refusal === undefined ? onChoose : () => toastError(refusal);

/** @returns undefined if the body cannot be sent or edited as text; a toast then says so */
async function bodyText(id: string): Promise<string | undefined> {
  try {
    const { isUtf8, text } = await api.body(id);
    if (isUtf8 && text.length <= MAX_EDITED_LENGTH) return text;
    const why = isUtf8 ? `longer than ${MAX_EDITED_LENGTH.toLocaleString('en')} characters` : 'not UTF-8';
    toastError(`The body is ${why}. Save it, edit the file, and send it with npx hookctl send --file`);
  } catch (error) {
    toastError(errorText(error));
  }
  return undefined;
}

async function curlOf(id: string, headers: Headers): Promise<string> {
  const [, contentType = 'application/json'] =
    headers.find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  return curlCommand({ url: stack.webhookUrl, secret: stack.secret, body: await api.body(id), contentType });
}

interface CommandItem {
  readonly command: Command;
  readonly label: string;
  readonly note?: string;
  readonly refusal?: string | undefined;
}

/** How to send the same bytes again, and what then happens. */
function resendsOf(delivery: Delivery, headers: Headers): CommandItem[] {
  const { id, state } = delivery;
  const signed = { command: resendCommand(id, false) };
  if (!isRefused(state)) {
    const isDone = state === 'processed' || state === 'skipped';
    const note = isDone ? 'It is skipped: this event was processed.' : 'It counts as the same event.';
    return [{ ...signed, label: 'Resend the same bytes', note }];
  }
  const refusal = stack.local ? undefined : 'AWS stores no body of this request.';
  const sign = {
    ...signed,
    label: 'Sign and resend',
    note: 'The same bytes, with a new signature.',
    refusal,
  };
  if (state !== 'rejected' || headers.length === 0) return [sign];
  const note = 'It is refused again: its signature stays.';
  return [sign, { command: resendCommand(id, true), label: 'Resend as received', note }];
}

/** How to continue a waiting delivery: a redrive, or the end of its event's pause. */
function recoveriesOf({ state, event = '', eventId }: Delivery): CommandItem[] {
  if (state === 'paused') {
    return [{ command: resumeCommand(event), label: `Resume ${event}` }];
  }
  const queue = queueOf({ state, event });
  if (queue === undefined || eventId === undefined) return [];
  const isUnknown = state === 'parked' && !stack.events.some(({ name }) => name === event);
  const refusal = isUnknown ? `${event} has no consumer yet. Add one first.` : undefined;
  const label = state === 'dead-letter' ? 'Redrive' : `Redrive from ${queue}`;
  return [{ command: redriveCommand(queue, [eventId]), label, refusal }];
}
