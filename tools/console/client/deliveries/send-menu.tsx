import { useState } from 'preact/hooks';
import { EditDialog } from '../acting/edit-dialog.tsx';
import { useSend } from '../acting/use-send.ts';
import { Icon } from '../shared/icon.tsx';
import { Menu } from '../shared/menu.tsx';
import { useConsole } from '../shell/context.ts';
import { formatJson, textOf } from '../text/format-json.ts';

interface SendMenuProps {
  label?: string;
  onSent: (delivery: string) => void;
}

/** A sample of any event, or a body of one's own. */
export function SendMenu({ label = 'Send', onSent }: SendMenuProps) {
  const { stack } = useConsole();
  const { send, refusal } = useSend();
  const [edits, setEdits] = useState(false);
  const [first] = stack.events;
  const refused = refusal === undefined ? {} : { refusal };
  return (
    <>
      <Menu
        class="button send-button"
        button={
          <>
            {label}
            <Icon name="down" />
          </>
        }
        items={[
          ...stack.events.map(({ name, meaning }) => ({
            label: (
              <span class="send-item">
                <span class="mono">{name}</span>
                <span class="soft">{meaning}</span>
              </span>
            ),
            ...refused,
            onChoose: () => send({ kind: 'send', event: name }, onSent),
          })),
          ...(stack.local ? [{ label: 'Write a body …', ...refused, onChoose: () => setEdits(true) }] : []),
        ]}
      />
      {edits && first !== undefined && (
        <EditDialog
          title="Write and send"
          text={pretty(first.sample)}
          onClose={() => setEdits(false)}
          onSent={onSent}
        />
      )}
    </>
  );
}

function pretty(text: string): string {
  const formatted = formatJson(text);
  return formatted.ok ? textOf(formatted.lines) : text;
}
