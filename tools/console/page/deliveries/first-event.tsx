import { editBody } from '../editor/editor.tsx';
import { stack } from '../store.ts';
import { withTimestamp } from '../text/format-json.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { useRun } from '../use-run.tsx';

interface SendProps {
  onSent: (delivery: string) => void;
}

/** Shown instead of an empty list. */
export function FirstEvent({ onSent }: SendProps) {
  const { start, busy, refusal } = useRun();
  const [event] = stack.events;
  if (event === undefined) return null;
  return (
    <div class="empty">
      <h2>No deliveries yet</h2>
      <p>
        Send a signed <code>{event.name}</code>. The receiver verifies and queues it, a consumer processes it,
        and you see each step here.
      </p>
      <div class="row">
        <Button
          kind="primary"
          busy={busy}
          refusal={refusal}
          onClick={() => start([sends(event.name)], { onSent })}
        >
          Send the first event
        </Button>
        <SendMenu label="Another event" onSent={onSent} />
      </div>
    </div>
  );
}

const sends = (event: string) => ({
  argv: ['send', event],
  does: `Sends a sample of ${event}.`,
  did: 'Sent.',
});

/** Menu to send a sample of any event, or a body that the user writes. */
export function SendMenu({ label = 'Send', onSent }: SendProps & { label?: string }) {
  const { start, refusal } = useRun();
  const samples = stack.events.map(({ name, meaning }) => ({
    label: <code>{name}</code>,
    note: meaning,
    refusal,
    onChoose: () => start([sends(name)], { onSent }),
  }));
  const sample = stack.events[0]?.sample ?? '{}';
  const write = {
    label: 'Write a body …',
    refusal,
    onChoose: () => editBody('Write a body', withTimestamp(sample) ?? sample),
  };
  return (
    <Menu
      button={
        <>
          {label}
          <Icon name="down" />
        </>
      }
      items={stack.local ? [...samples, write] : samples}
    />
  );
}
