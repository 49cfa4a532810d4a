import { useState } from 'preact/hooks';
import type { Delivery, HistoryPlace } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { curlCommand } from '../editor/curl-command.ts';
import { Editor, LONGEST_EDITED } from '../editor/editor.tsx';
import { redriveCommand } from '../queues/named-queue.ts';
import { refusal, stack } from '../store.ts';
import { copyText } from '../ui/copy.tsx';
import type { MenuItem } from '../ui/menu.tsx';
import { toastError, toastInfo } from '../ui/notices.tsx';
import { type Command, taskEnd, useRun, useSend } from '../use-run.tsx';
import { placeOf } from './overview.tsx';

/** All actions for a delivery. The one that fits its outcome comes first. */
export function useActions(
  delivery: Delivery,
  detail: DeliveryDetail | undefined,
  reload: () => void,
  onSent: (delivery: string) => void,
) {
  const { id, state } = delivery;
  const sender = useSend();
  const { redriving, busy, error } = useRedrive(delivery, detail, reload);
  const { editing, editor } = useEdit(delivery, onSent);

  const resend = async () => {
    const hasHeaders = stack.local && detail?.request.headers.length !== 0;
    const argv = ['send', '--again', id, ...(hasHeaders ? ['--same-headers'] : [])];
    // It is the same event, so its timeline contains both.
    if (await sender.send({ argv, does: 'Sends the same body again, with a new signature.' })) reload();
  };
  const copyCurl = async () => {
    if (await copyText(curlOf(id, detail))) toastInfo('Copied as curl, with openssl to sign it.');
  };
  const copyLink = async () => {
    if (await copyText(location.href)) toastInfo('Link copied.');
  };

  const sending: MenuItem = { label: 'Resend', keyHint: 'r', refusal: refusal(), onChoose: resend };
  const primary = state === 'invalid' && stack.local ? editing : (redriving ?? sending);
  const all: MenuItem[] = [
    ...(redriving === undefined ? [] : [redriving]),
    sending,
    editing,
    { label: 'Copy as curl', keyHint: 'c', onChoose: copyCurl },
    { label: 'Copy link', keyHint: 'l', onChoose: copyLink },
    { label: 'Refresh', onChoose: reload },
  ];
  return {
    keys: { r: resend, e: editing.onChoose, c: copyCurl, l: copyLink },
    primary,
    others: all.filter((action) => action !== primary),
    busy: sender.busy || busy,
    failure: error,
    editor,
  };
}

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
    if (refused !== undefined) {
      toastError(refused);
      return;
    }
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

function useRedrive(delivery: Delivery, detail: DeliveryDetail | undefined, reload: () => void) {
  const { start, busy, error, refusal: refused } = useRun({ opens: false });
  const found = redriveOf(detail?.history.now[0] ?? placeOf(delivery), delivery);
  const redrive = async (command: Command) => {
    const [begun] = (await start([command])) ?? [];
    if (begun === undefined) return;
    try {
      const { state, lines } = await taskEnd(begun);
      if (state === 'done') toastInfo('Redriven.');
      else toastError(lines.join('\n'));
      reload();
    } catch (failure) {
      toastError(`The end of the redrive is not known: ${errorText(failure)}`);
    }
  };
  const redriving: MenuItem | undefined = found && {
    label: found.label,
    refusal: refused ?? found.refusal,
    onChoose: () => redrive(found.command),
  };
  return { redriving, busy, error };
}

/** How to redrive a delivery, and why that is not possible yet. Undefined if no queue keeps it for redrive. */
function redriveOf(
  { state, queue, queueHolds }: HistoryPlace,
  { event, eventId }: Delivery,
): { command: Command; label: string; refusal?: string } | undefined {
  if (eventId === undefined || queueHolds === 0) return undefined;
  const from = (name: string) => redriveCommand(name, [eventId]);
  if (state === 'invalid') return { command: from('quarantine'), label: 'Redrive from quarantine' };
  if (state === 'dead-letter') return { command: from(queue ?? event ?? ''), label: 'Redrive' };
  if (state !== 'parked') return undefined;
  const parked = { command: from('unrouted'), label: 'Redrive from unrouted' };
  if (stack.events.some(({ name }) => name === event)) return parked;
  return { ...parked, refusal: `${event ?? 'This event'} has no consumer yet. Add one first.` };
}
