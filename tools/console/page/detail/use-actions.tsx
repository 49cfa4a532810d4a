import { useState } from 'preact/hooks';
import type { Delivery, HistoryPlace } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { type Command, resendCommand } from '../command.ts';
import { sharedLink } from '../deliveries/list-menu.tsx';
import { curlCommand } from '../editor/curl-command.ts';
import { Editor } from '../on-demand.tsx';
import { queueAddress, redriveCommand } from '../queues/named-queue.ts';
import { changeUnderWay, resumeCommand } from '../queues/pause-resume.tsx';
import { refusal, stack } from '../store.ts';
import { copyText } from '../ui/copy.tsx';
import type { MenuItem } from '../ui/menu.tsx';
import { toastError, toastInfo } from '../ui/notices.tsx';
import { useRun, useSend } from '../use-run.tsx';
import { placeOf } from './overview.tsx';

/** Maximum characters that can be edited here. With a longer text, a browser takes seconds for each key. */
const LONGEST_EDITED = 200_000;

/** All actions for a delivery. The one that fits its outcome comes first. */
export function useActions(
  delivery: Delivery,
  detail: DeliveryDetail | undefined,
  reload: () => void,
  onSent: (delivery: string) => void,
) {
  const { id, state } = delivery;
  const { sendings, busy: sends } = useResend(delivery, detail, reload);
  const { recovery, busy } = useRecovery(delivery, detail, reload);
  const { editing, editor } = useEdit(delivery, onSent);
  const copyCurl = async () => {
    if (await copyText(curlOf(id, detail))) toastInfo('Copied as curl, with openssl to sign it.');
  };
  const copyLink = async () => {
    if (await copyText(sharedLink())) toastInfo('Link copied.');
  };

  const [sending] = sendings;
  const primary = state === 'invalid' && stack.local ? editing : (recovery ?? sending);
  const all: MenuItem[] = [
    ...(recovery === undefined ? [] : [recovery]),
    ...sendings,
    editing,
    { label: 'Copy as curl', keyHint: 'c', onChoose: copyCurl },
    { label: 'Copy link', keyHint: 'l', onChoose: copyLink },
    { label: 'Refresh', onChoose: reload },
  ];
  return {
    keys: { r: byKey(sending), e: byKey(editing), c: copyCurl, l: copyLink },
    primary,
    others: all.filter((action) => action !== primary),
    busy: sends || busy,
    editor,
  };
}

/** What a key does, which is not a button that shows why it is refused. */
const byKey = ({ refusal: refused, onChoose }: MenuItem) =>
  refused === undefined ? onChoose : () => toastError(refused);

/** @returns undefined if it cannot be loaded, which a toast says */
async function loadBody(id: string) {
  try {
    return await api.body(id);
  } catch (failure) {
    toastError(errorText(failure));
    return undefined;
  }
}

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
  const [edited, setEdited] = useState<string>();
  const refused = stack.local
    ? refusal()
    : 'An edited body needs a signature, and only the local stack’s secret is known here.';
  const edit = async () => {
    const body = await loadBody(id);
    if (body === undefined) return;
    if (body.isUtf8 && body.text.length <= LONGEST_EDITED) {
      setEdited(body.text);
      return;
    }
    const why = body.isUtf8 ? `longer than ${LONGEST_EDITED.toLocaleString('en')} characters` : 'not UTF-8';
    toastError(`The body is ${why}. Save it, edit the file, and send it with npx hookctl send --file`);
  };
  const editing: MenuItem = {
    label: state === 'invalid' ? 'Edit and resend' : 'Edit and send',
    keyHint: 'e',
    refusal: refused,
    onChoose: edit,
  };
  const editor = edited !== undefined && (
    <Editor
      title={`Edit and send ${event ?? ''}`}
      text={edited}
      isEdit
      onClose={() => setEdited(undefined)}
      onSent={onSent}
    />
  );
  return { editing, editor };
}

/** Sends it again. After a bad signature, the one that signs comes first. */
function useResend({ id, state }: Delivery, detail: DeliveryDetail | undefined, reload: () => void) {
  const { send, busy, refusal: refused } = useSend();
  const isLost = !stack.local && ['refused', 'rejected', 'failed'].includes(state);
  const sendingOf = (label: string, keepsHeaders: boolean): MenuItem => ({
    label,
    refusal: refused ?? (isLost ? 'AWS has stored nothing of this request.' : undefined),
    onChoose: async () => {
      // It is the same event, so its timeline contains both.
      if (await send(resendCommand(id, keepsHeaders))) reload();
    },
  });
  const hasHeaders = stack.local && detail?.request.headers.length !== 0;
  const first: MenuItem = { ...sendingOf('Resend', hasHeaders), keyHint: 'r' };
  const sendings: readonly [MenuItem, ...MenuItem[]] =
    state === 'rejected' && hasHeaders
      ? [{ ...sendingOf('Sign and resend', false), keyHint: 'r' }, sendingOf('Resend as received', true)]
      : [first];
  return { sendings, busy };
}

/** What moves a delivery on that waits for a person: a redrive, or the end of its event's pause. */
function useRecovery(delivery: Delivery, detail: DeliveryDetail | undefined, reload: () => void) {
  const { start, busy, refusal: refused } = useRun();
  const place = detail?.history.now[0] ?? placeOf(delivery);
  const found = delivery.state === 'paused' ? resumeOf(delivery.event ?? '') : redriveOf(place, delivery);
  if (found === undefined) return { recovery: undefined, busy };
  const { command, ...item } = found;
  const recovery: MenuItem =
    refused !== undefined && delivery.state === 'paused'
      ? {
          label: 'Show the queue',
          onChoose: () => {
            location.hash = queueAddress(delivery.event ?? '');
          },
        }
      : { ...item, refusal: refused ?? item.refusal, onChoose: () => start([command], reload) };
  return { recovery, busy };
}

interface FoundRecovery {
  readonly command: Command;
  readonly label: string;
  /** Why it is not possible yet. */
  readonly refusal?: string;
}

const resumeOf = (event: string): FoundRecovery => ({
  command: resumeCommand(event),
  label: `Resume ${event}`,
  ...changeUnderWay(event),
});

/** How to redrive a delivery, and why that is not possible yet. Undefined if no queue keeps it for redrive. */
function redriveOf(
  { state, queue, queueHolds }: HistoryPlace,
  { event, eventId }: Delivery,
): FoundRecovery | undefined {
  if (eventId === undefined || queueHolds === 0) return undefined;
  const from = (name: string) => redriveCommand(name, [eventId]);
  if (state === 'invalid') return { command: from('quarantine'), label: 'Redrive from quarantine' };
  if (state === 'dead-letter') return { command: from(queue ?? event ?? ''), label: 'Redrive' };
  if (state !== 'parked') return undefined;
  const parked = { command: from('unrouted'), label: 'Redrive from unrouted' };
  if (stack.events.some(({ name }) => name === event)) return parked;
  return { ...parked, refusal: `${event ?? 'This event'} has no consumer yet. Add one first.` };
}
