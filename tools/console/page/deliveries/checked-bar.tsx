import { type Delivery, queueOf } from '../../../stage/history/history.ts';
import { resendCommand } from '../command.ts';
import { redriveCommand } from '../needs-you/redrive.ts';
import { stack } from '../store.ts';
import { Button } from '../ui/button.tsx';
import { useRun } from '../use-run.tsx';
import { deliveriesText } from './delivery-rows.ts';

/** Maximum number of deliveries that one action sends. Each delivery is a separate command. */
const MAX_RESENT = 100;

/** Maximum number of event ids in a redrive command. The server accepts commands up to 128 KiB. */
const MAX_REDRIVEN = 1_000;

interface CheckedBarProps {
  checked: readonly Delivery[];
  onSelectAll: () => void;
  onDone: (ids: readonly string[]) => void;
}

/** Actions for the checked deliveries. Shown instead of the filters. */
export function CheckedBar({ checked, onSelectAll, onDone }: CheckedBarProps) {
  const { start, busy, refusal } = useRun();
  const queues = redrivable(
    checked,
    stack.events.map(({ name }) => name),
  );
  const redriven = [...queues.values()].flat().length;
  const ids = checked.map(({ id }) => id);
  const resend = async () => {
    // A delivery with a bad signature is signed again, because its own signature would be refused again.
    const ended = await start(
      checked.map(({ id, state }) => resendCommand(id, stack.local && state !== 'rejected')),
    );
    onDone(ids.slice(0, ended.length));
  };
  const redrive = async () => {
    const ended = await start([...queues].map(([queue, events]) => redriveCommand(queue, events)));
    const events = new Set([...queues.values()].slice(0, ended.length).flat());
    onDone(checked.filter(({ eventId = '' }) => events.has(eventId)).map(({ id }) => id));
  };
  const tooMany =
    checked.length > MAX_RESENT ? `At most ${MAX_RESENT} deliveries can be sent at once.` : undefined;
  const whyNotRedrive =
    queues.size === 0
      ? 'Redrive is only for dead letters, invalid deliveries, and parked deliveries whose event now has a consumer.'
      : redriven > MAX_REDRIVEN
        ? `At most ${MAX_REDRIVEN} deliveries can be redriven at once. To redrive a whole queue, use Needs you.`
        : undefined;
  return (
    <div class="filters" role="toolbar" aria-label="Selected deliveries">
      <b>{deliveriesText(checked.length)} selected</b>
      <Button busy={busy} refusal={refusal ?? tooMany} onClick={resend}>
        Resend
      </Button>
      <Button busy={busy} refusal={refusal ?? whyNotRedrive} onClick={redrive}>
        Redrive{redriven === 0 ? '' : ` ${redriven.toLocaleString('en')}`}
      </Button>
      <Button kind="quiet" onClick={onSelectAll}>
        Select all
      </Button>
      <Button kind="quiet" onClick={() => onDone(ids)}>
        Clear selection
      </Button>
    </div>
  );
}

/**
 * The event ids of deliveries that can be redriven, by queue.
 * @param events kinds of events that have a consumer. Other queues cannot be redriven
 */
export function redrivable(
  deliveries: readonly Delivery[],
  events: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  // A set, because deliveries with the same bytes have the same event id.
  const queues = new Map<string, Set<string>>();
  for (const delivery of deliveries) {
    const { state, event = '', eventId } = delivery;
    const queue = queueOf(delivery);
    const hasNoConsumer = state === 'parked' && !events.includes(event);
    if (queue === undefined || eventId === undefined || hasNoConsumer) continue;
    queues.set(queue, (queues.get(queue) ?? new Set()).add(eventId));
  }
  return new Map([...queues].map(([queue, ids]) => [queue, [...ids]]));
}
