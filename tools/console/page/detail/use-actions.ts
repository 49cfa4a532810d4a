import type { Delivery } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { sendCommand } from '../command.ts';
import { editBody } from '../editor/editor.tsx';
import { stack } from '../store.ts';
import { withTimestamp } from '../text/format-json.ts';
import { copyAndSay } from '../ui/button.tsx';
import type { MenuItem } from '../ui/menu.tsx';
import { toastError } from '../ui/toasts.ts';
import { useRun } from '../use-run.tsx';
import { type Action, actionsOf, curlCommand } from './actions.ts';

/** Maximum characters of a text to edit. In a longer text, each key press takes a browser seconds. */
const MAX_EDITED_LENGTH = 200_000;

/** All actions for a delivery, for buttons, a menu and keys. */
export function useActions(delivery: Delivery, exchange: DeliveryDetail['exchange']) {
  const { id, event = '' } = delivery;
  const { start, busy, refusal } = useRun();
  const withBody = async (act: (text: string) => unknown) => {
    const text = await bodyText(id);
    if (text !== undefined) act(text);
  };
  const choose = ({ does }: Action) => {
    if (does === 'edit') return withBody((text) => editBody(`Edit and send ${event}`, text));
    if (does !== 'send') return start([does]);
    return withBody((text) => start([sendCommand(withTimestamp(text) ?? text)]));
  };
  const itemOf = (action: Action): MenuItem => ({
    ...action,
    refusal: refusal ?? action.refusal,
    onChoose: () => choose(action),
  });
  const { primary, first, edit, others } = actionsOf(delivery);
  const copyCurl = () => copyAndSay(curlOf(id, exchange), 'Copied as curl, with openssl to sign it.');
  return {
    copyCurl,
    keys: { r: byKey(itemOf(first)), e: byKey(itemOf(edit)), c: copyCurl },
    primary: primary && itemOf(primary),
    others: others.map(itemOf),
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

async function curlOf(id: string, exchange: DeliveryDetail['exchange']): Promise<string> {
  const [, contentType = 'application/json'] =
    exchange?.headers.find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  return curlCommand(stack, await api.body(id), contentType);
}
