import { useSignal } from '@preact/signals';
import { type Delivery, queueOf } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { type Command, resendCommand, resumeCommand } from '../command.ts';
import { curlCommand } from '../editor/curl-command.ts';
import { Editor } from '../editor/editor.tsx';
import { redriveCommand } from '../needs-you/redrive.ts';
import { changeUnderWay } from '../queues/queues-view.tsx';
import { formatRoute } from '../route.ts';
import { refusal, stack } from '../store.ts';
import { copyAndSay } from '../ui/copy.tsx';
import type { MenuItem } from '../ui/menu.tsx';
import { toastError } from '../ui/notices.tsx';
import { useRun } from '../use-run.tsx';

/** Maximum characters of a text to edit. In a longer text, each key press takes a browser seconds. */
const MAX_EDITED_LENGTH = 200_000;

/** All actions for a delivery. The most useful one for its outcome comes first. */
export function useActions(
  delivery: Delivery,
  detail: DeliveryDetail | undefined,
  reload: () => void,
  onSent: (delivery: string) => void,
) {
  const { id, state } = delivery;
  const { sendings, busy: sends } = useResend(delivery, detail, reload);
  const { recovery, busy } = useRecovery(delivery, reload);
  const { editing, editor } = useEdit(delivery, onSent);
  const copyCurl = () => copyAndSay(curlOf(id, detail), 'Copied as curl, with openssl to sign it.');
  const copyLink = () => copyAndSay(linkTo(id), 'Link copied.');

  // For a delivery that waits for a person, recovery comes first: sending the event again would add a duplicate.
  const [first, ...more] = recovery === undefined ? sendings : ([recovery, ...sendings] as const);
  const main: MenuItem = { ...first, keyHint: 'r' };
  const primary = state === 'invalid' && stack.local ? editing : main;
  const all: MenuItem[] = [
    main,
    ...more,
    editing,
    { label: 'Copy link', keyHint: 'l', onChoose: copyLink },
    { label: 'Refresh', onChoose: reload },
  ];
  return {
    copyCurl,
    keys: { r: byKey(main), e: byKey(editing), c: copyCurl, l: copyLink },
    primary,
    others: all.filter((action) => action !== primary),
    busy: sends || busy,
    editor,
  };
}

/** The action of a shortcut. A button shows why its action is refused; a shortcut needs a toast for that. */
const byKey = ({ refusal: refused, onChoose }: MenuItem) =>
  refused === undefined ? onChoose : () => toastError(refused);

/** @returns undefined if the body cannot be loaded; a toast then says so */
async function loadBody(id: string) {
  try {
    return await api.body(id);
  } catch (failure) {
    toastError(errorText(failure));
    return undefined;
  }
}

/** Link for other people who use this console. */
const linkTo = (id: string) =>
  new URL(`/${formatRoute({ view: 'deliveries', path: [id] })}`, location.href).href;

async function curlOf(id: string, detail: DeliveryDetail | undefined): Promise<string> {
  const type = detail?.request.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const body = await loadBody(id);
  return curlCommand({
    url: stack.webhookUrl,
    secret: stack.secret,
    body: body?.text,
    isUtf8: body?.isUtf8 ?? false,
    contentType: type ?? 'application/json',
  });
}

function useEdit({ id, event, state }: Delivery, onSent: (delivery: string) => void) {
  const edited = useSignal<string | undefined>(undefined);
  const refused = stack.local
    ? refusal()
    : 'An edited body must be signed, and the console knows only the secret of the local stack.';
  const edit = async () => {
    const body = await loadBody(id);
    if (body === undefined) return;
    if (body.isUtf8 && body.text.length <= MAX_EDITED_LENGTH) {
      edited.value = body.text;
      return;
    }
    const why = body.isUtf8
      ? `longer than ${MAX_EDITED_LENGTH.toLocaleString('en')} characters`
      : 'not UTF-8';
    toastError(`The body is ${why}. Save it, edit the file, and send it with npx hookctl send --file`);
  };
  const editing: MenuItem = {
    label: state === 'invalid' ? 'Edit and resend' : 'Edit and send',
    keyHint: 'e',
    refusal: refused,
    onChoose: edit,
  };
  const editor = edited.value !== undefined && (
    <Editor
      title={`Edit and send ${event ?? ''}`}
      text={edited.value}
      isEdit
      onClose={() => {
        edited.value = undefined;
      }}
      onSent={onSent}
    />
  );
  return { editing, editor };
}

/** The actions that send the delivery again. After a bad signature, the action that signs comes first. */
function useResend({ id, state }: Delivery, detail: DeliveryDetail | undefined, reload: () => void) {
  const { start, busy, refusal: refused } = useRun();
  const isLost = !stack.local && ['refused', 'rejected', 'failed'].includes(state);
  const sendingOf = (label: string, keepsHeaders: boolean): MenuItem => ({
    label,
    refusal: refused ?? (isLost ? 'AWS stores no body of this request.' : undefined),
    onChoose: async () => {
      // The bytes are those of the open delivery, so its timeline now contains the new request, too.
      await start([resendCommand(id, keepsHeaders)]);
      reload();
    },
  });
  const hasHeaders = stack.local && detail?.request.headers.length !== 0;
  const sendings: readonly [MenuItem, ...MenuItem[]] =
    state === 'rejected' && hasHeaders
      ? [sendingOf('Sign and resend', false), sendingOf('Resend as received', true)]
      : [sendingOf('Resend', hasHeaders)];
  return { sendings, busy };
}

/** The action that continues a waiting delivery: a redrive, or the end of its event's pause. */
function useRecovery(delivery: Delivery, reload: () => void) {
  const { start, busy, refusal: refused } = useRun();
  const found = delivery.state === 'paused' ? resumeOf(delivery.event ?? '') : redriveOf(delivery);
  if (found === undefined) return { recovery: undefined, busy };
  const { command, ...item } = found;
  const recovery: MenuItem =
    refused !== undefined && delivery.state === 'paused'
      ? {
          label: 'Show the queues',
          onChoose: () => {
            location.hash = '#/queues';
          },
        }
      : { ...item, refusal: refused ?? item.refusal, onChoose: () => start([command]).then(reload) };
  return { recovery, busy };
}

interface FoundRecovery {
  readonly command: Command;
  readonly label: string;
  /** Why recovery is not possible yet. */
  readonly refusal?: string;
}

const resumeOf = (event: string): FoundRecovery => ({
  command: resumeCommand(event),
  label: `Resume ${event}`,
  ...changeUnderWay(event),
});

/**
 * How to redrive a delivery, and why that is not possible yet. Undefined if the delivery is on no queue that
 * can be redriven.
 */
function redriveOf(delivery: Delivery): FoundRecovery | undefined {
  const { state, event, eventId } = delivery;
  const queue = queueOf(delivery);
  if (queue === undefined || eventId === undefined) return undefined;
  const command = redriveCommand(queue, [eventId]);
  if (state === 'dead-letter') return { command, label: 'Redrive' };
  const found = { command, label: `Redrive from ${queue}` };
  if (state === 'invalid' || stack.events.some(({ name }) => name === event)) return found;
  return { ...found, refusal: `${event ?? 'This event'} has no consumer yet. Add one first.` };
}
