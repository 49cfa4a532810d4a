import { curlCommand } from '../editor/curl-command.ts';
import { stack } from '../store.ts';
import { Button } from '../ui/button.tsx';
import { Copy } from '../ui/copy.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { useRun } from '../use-run.tsx';

export function FirstEvent({ onSent, onWrite }: SendProps) {
  const { start, busy, refusal } = useRun();
  const [event] = stack.events;
  if (event === undefined) return null;
  const command = curlCommand({
    url: stack.webhookUrl,
    secret: stack.secret,
    body: event.sample,
    isUtf8: true,
    contentType: 'application/json',
  });
  return (
    <div class="page">
      <div class="empty">
        <h2>No deliveries yet</h2>
        <p>
          Send a signed <code>{event.name}</code>. The receiver verifies and queues it, a consumer processes
          it, and you see each step here.
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
          <SendMenu label="Another event" onSent={onSent} onWrite={onWrite} />
        </div>
      </div>
      <section class="stack">
        <div class="row">
          <h2 class="grow">The same in a terminal, without this project’s tools</h2>
          <Copy text={command} label="Copy the command" />
        </div>
        <pre class="command">{command}</pre>
      </section>
    </div>
  );
}

export interface SendProps {
  onSent: (delivery: string) => void;
  onWrite: () => void;
}

const sends = (event: string) => ({
  argv: ['send', event],
  does: `Sends a sample of ${event}.`,
  did: 'Sent.',
});

/** Menu to send a sample of any event, or a body that the user writes. */
export function SendMenu({ label = 'Send', onSent, onWrite }: SendProps & { label?: string }) {
  const { start, refusal } = useRun();
  const nameLength = Math.max(...stack.events.map(({ name }) => name.length));
  return (
    <Menu
      button={
        <>
          {label}
          <Icon name="down" />
        </>
      }
      items={[
        ...stack.events.map(({ name, meaning }) => ({
          label: (
            <span class="sample">
              <code style={{ width: `${nameLength}ch` }}>{name}</code>
              <span class="soft">{meaning}</span>
            </span>
          ),
          refusal,
          onChoose: () => start([sends(name)], { onSent }),
        })),
        ...(stack.local ? [{ label: 'Write a body …', refusal, onChoose: onWrite }] : []),
      ]}
    />
  );
}
