import { useSend } from '../acting/use-send.ts';
import { Icon } from '../shared/icon.tsx';
import { Menu } from '../shared/menu.tsx';
import { useConsole } from '../shell/context.ts';

interface SendMenuProps {
  label?: string;
  onSent: (delivery: string) => void;
  /** Opens the editor. It stands where no delivery that comes takes it away. */
  onWrite: () => void;
}

/** A sample of any event, or a body of one's own. */
export function SendMenu({ label = 'Send', onSent, onWrite }: SendMenuProps) {
  const { stack } = useConsole();
  const { send, refusal } = useSend();
  const refused = refusal === undefined ? {} : { refusal };
  return (
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
        ...(stack.local ? [{ label: 'Write a body …', ...refused, onChoose: onWrite }] : []),
      ]}
    />
  );
}
