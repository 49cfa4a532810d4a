import { type Delivery, isRefused, queueOf } from '../../../stage/history/history.ts';
import { shellWord } from '../../../terminal/text.ts';
import type { StackInfo } from '../../api.ts';
import type { DeliveryBody } from '../api.ts';
import { type Command, redriveCommand, resendCommand, resumeCommand } from '../command.ts';
import { stack } from '../store.ts';

export interface Action {
  readonly label: string;
  /** What will happen. */
  readonly note?: string;
  readonly refusal?: string | undefined;
  readonly keyHint?: string;
  /** A command. Or: send the body with a new timestamp, or edit it. */
  readonly does: Command | 'send' | 'edit';
}

/**
 * The actions for a delivery. The `first` is the next thing that a person would do: for a delivery that waits for a
 * person, recovery, because sending the event again would add a duplicate.
 */
export function actionsOf(delivery: Delivery) {
  const { state } = delivery;
  const refusal = stack.local ? undefined : 'Only the local stack accepts changed bodies.';
  const note = 'The timestamp is now, the signature is new.';
  const sendNew: Action = { label: 'Send as new event', note, refusal, does: 'send' };
  const edit: Action = { label: 'Edit and send', refusal, keyHint: 'e', does: 'edit' };
  const recoveries = recoveriesOf(delivery);
  const [main = edit, ...more] = [...recoveries, ...(isRefused(state) ? [] : [sendNew]), resendOf(delivery)];
  const first = { ...main, keyHint: 'r' };
  const wanted = state === 'invalid' && stack.local ? edit : first;
  // For a delivery of a stage that needs nobody, there is nothing to do. The menu says why.
  const primary = stack.local || recoveries.length > 0 ? wanted : undefined;
  return { first, edit, primary, others: [first, ...more, edit].filter((action) => action !== primary) };
}

/** How to send the same bytes again, and what then happens. */
function resendOf({ id, state }: Delivery): Action {
  const does = resendCommand(id);
  if (isRefused(state)) {
    const note = 'The same bytes, with a new signature.';
    const refusal = stack.local ? undefined : 'AWS stores no body of this request.';
    return { does, label: 'Sign and resend', note, refusal };
  }
  const isDone = state === 'processed' || state === 'skipped';
  const note = isDone ? 'It is skipped: this event was processed.' : 'It counts as the same event.';
  return { does, label: 'Resend the same bytes', note };
}

/** How to continue a waiting delivery: a redrive, or the end of its event's pause. */
function recoveriesOf({ state, event = '', eventId }: Delivery): Action[] {
  if (state === 'paused') {
    return [{ does: resumeCommand(event), label: `Resume ${event}` }];
  }
  const queue = queueOf({ state, event });
  if (queue === undefined || eventId === undefined) return [];
  const isUnknown = state === 'parked' && !stack.events.some(({ name }) => name === event);
  const refusal = isUnknown ? `${event} has no consumer yet. Add one first.` : undefined;
  const label = state === 'dead-letter' ? 'Redrive' : `Redrive from ${queue}`;
  return [{ does: redriveCommand(queue, [eventId]), label, refusal }];
}

/** Maximum characters of a body. A longer one is unreadable in a shell, and Linux limits one argument to 128 KiB. */
const MAX_BODY_LENGTH = 16_384;

/**
 * Shell commands with openssl and curl that send the same delivery.
 * @throws Error if the body cannot be pasted into a shell unchanged
 */
export function curlCommand(
  { webhookUrl, secret }: Pick<StackInfo, 'webhookUrl' | 'secret'>,
  body: DeliveryBody,
  contentType: string,
): string {
  if (!isTypable(body)) {
    const what = 'The body is long, not UTF-8, or has invisible characters';
    throw new Error(`${what}. Save it, and send it with npx hookctl send --file`);
  }
  const key = secret === undefined ? '"$WEBHOOK_SECRET"' : shellWord(secret);
  const header = `-H ${shellWord(`Content-Type: ${contentType}`)}`;
  return [
    `BODY=${shellWord(body.text)}`,
    `SIGNATURE=$(printf '%s' "$BODY" | openssl dgst -sha256 -hmac ${key} -r | cut -d ' ' -f 1)`,
    `printf '%s' "$BODY" | curl -i ${shellWord(webhookUrl)} \\`,
    `  ${header} -H "X-Webhook-Signature: $SIGNATURE" --data-binary @-`,
  ].join('\n');
}

/** Whether the body can be pasted into a shell unchanged: it has no control or invisible characters. */
const isTypable = ({ text, isUtf8 }: DeliveryBody) =>
  isUtf8 &&
  text.length <= MAX_BODY_LENGTH &&
  !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text.replaceAll('\n', ''));
