import { useMemo } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import { stack } from '../store.ts';
import { ErrorNote } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { useRun } from '../use-run.tsx';
import { MAX_REDRIVEN, MAX_RESENT, redrivable } from './redrive.ts';

interface CheckedBarProps {
  checked: readonly Delivery[];
  onSelectAll: () => void;
  /** Called with deliveries to deselect. */
  onDone: (ids: readonly string[]) => void;
}

const deliveriesText = (count: number) =>
  `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`;

/** Actions for several selected deliveries. Replaces the filters. */
export function CheckedBar({ checked, onSelectAll, onDone }: CheckedBarProps) {
  const { start, busy, error, refusal } = useRun();
  const queues = useMemo(
    () =>
      redrivable(
        checked,
        stack.events.map(({ name }) => name),
      ),
    [checked],
  );
  const redriven = [...queues.values()].flat().length;
  const ids = checked.map(({ id }) => id);
  const resend = async () => {
    const does = `Sends ${deliveriesText(checked.length)} again, with the same body.`;
    const own = stack.local ? ['--same-headers'] : [];
    const begun = await start(ids.map((id) => ({ argv: ['send', '--again', id, ...own], does })));
    onDone(ids.slice(0, begun?.length ?? 0));
  };
  const redrive = async () => {
    const commands = [...queues].map(([queue, events]) => ({
      argv: ['dlq', 'redrive', queue, ...events.flatMap((id) => ['--id', id])],
      does: `Processes ${events.length} ${events.length === 1 ? 'message' : 'messages'} of ${queue} again.`,
    }));
    const begun = await start(commands);
    const events = new Set([...queues.values()].slice(0, begun?.length ?? 0).flat());
    onDone(checked.filter(({ eventId = '' }) => events.has(eventId)).map(({ id }) => id));
  };
  const tooMany =
    checked.length > MAX_RESENT ? `At most ${MAX_RESENT} deliveries can be sent at once.` : undefined;
  const whyNotRedrive =
    queues.size === 0
      ? 'Only dead letters, invalid deliveries, and parked ones whose event has a consumer by now can be redriven.'
      : redriven > MAX_REDRIVEN
        ? `At most ${MAX_REDRIVEN} deliveries can be redriven at once. A queue’s page redrives all of it.`
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
      {error !== undefined && <ErrorNote>{error}</ErrorNote>}
    </div>
  );
}
