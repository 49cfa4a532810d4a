import { editBody } from '../editor/editor.tsx';
import { stack } from '../store.ts';
import { withTimestamp } from '../text/format-json.ts';
import { Button } from '../ui/button.tsx';
import { useKeepFocus } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { useRun } from '../use-run.tsx';

const sends = (event = '') => ({
  argv: ['send', event],
  does: `Sends a sample of ${event}.`,
  did: 'Sent.',
});

/** Menu to send a sample of any event, or a body that the user writes. */
export function SendMenu() {
  const { start, refusal } = useRun();
  const samples = stack.events.map(({ name, meaning }) => ({
    label: <code>{name}</code>,
    note: meaning,
    refusal,
    onChoose: () => start([sends(name)]),
  }));
  const sample = stack.events[0]?.sample ?? '{}';
  const write = {
    label: 'Write a body …',
    refusal,
    onChoose: () => editBody('Write a body', withTimestamp(sample) ?? sample),
  };
  const button = (
    <>
      Send <Icon name="down" />
    </>
  );
  return <Menu button={button} items={stack.local ? [...samples, write] : samples} />;
}

/** For an empty list. */
export function SendFirst() {
  const { start, ...state } = useRun();
  // The list replaces it.
  const own = useKeepFocus<HTMLParagraphElement>();
  return (
    <p ref={own}>
      <Button {...state} kind="primary" onClick={() => start([sends(stack.events[0]?.name)])}>
        Send the first event
      </Button>
    </p>
  );
}
