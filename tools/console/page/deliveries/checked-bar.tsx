import type { Delivery } from '../../../stage/history/history.ts';
import { useRun } from '../act.tsx';
import { stack } from '../store.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/notes.tsx';
import { MAX_RESENT, redrivable } from './redrive.ts';

interface CheckedBarProps {
  checked: readonly Delivery[];
  onSelectAll: () => void;
  onCancel: () => void;
}

const deliveriesText = (count: number) =>
  `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`;

/** What can be done with several deliveries. It takes the place of the filters. */
export function CheckedBar({ checked, onSelectAll, onCancel }: CheckedBarProps) {
  const { start, busy, error, refusal } = useRun();
  const queues = redrivable(checked);
  const redriven = [...queues.values()].flat().length;
  const resend = async () => {
    const does = `Sends ${deliveriesText(checked.length)} again, with the same body.`;
    const own = stack.local ? ['--same-headers'] : [];
    const begun = await start(checked.map(({ id }) => ({ argv: ['send', '--again', id, ...own], does })));
    if (begun !== undefined) onCancel();
  };
  const redrive = async () => {
    const commands = [...queues].map(([queue, ids]) => ({
      argv: ['dlq', 'redrive', queue, ...ids.flatMap((id) => ['--id', id])],
      does: `Processes ${ids.length} ${ids.length === 1 ? 'message' : 'messages'} of ${queue} again.`,
    }));
    if ((await start(commands)) !== undefined) onCancel();
  };
  const tooMany =
    checked.length > MAX_RESENT ? `At most ${MAX_RESENT} deliveries can be sent at once.` : undefined;
  const noneToRedrive =
    queues.size === 0 ? 'Only dead letters, invalid and parked deliveries can be redriven.' : undefined;
  return (
    <div class="filters" role="toolbar" aria-label="Selected deliveries">
      <b>{deliveriesText(checked.length)} selected</b>
      <Button busy={busy} refusal={refusal ?? tooMany} onClick={resend}>
        Resend
      </Button>
      <Button busy={busy} refusal={refusal ?? noneToRedrive} onClick={redrive}>
        Redrive{redriven === 0 ? '' : ` ${redriven.toLocaleString('en')}`}
      </Button>
      <Button kind="quiet" onClick={onSelectAll}>
        Select all
      </Button>
      <Button kind="quiet" onClick={onCancel}>
        Cancel
      </Button>
      {error !== undefined && <ErrorNote>{error}</ErrorNote>}
    </div>
  );
}
