import { curlCommand } from '../acting/curl.ts';
import { useSend } from '../acting/use-send.ts';
import { Button } from '../shared/button.tsx';
import { Copy } from '../shared/copy.tsx';
import { useConsole } from '../shell/context.ts';
import { SendMenu } from './send-menu.tsx';

interface FirstEventProps {
  onSent: (delivery: string) => void;
  onWrite: () => void;
}

/** What stands where no delivery has come yet: the shortest way to the first one. */
export function FirstEvent({ onSent, onWrite }: FirstEventProps) {
  const { stack } = useConsole();
  const { send, busy, refusal } = useSend();
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
      <div class="first">
        <h1>No delivery yet</h1>
        <p class="first-lead">
          Send a signed <code>{event.name}</code> to {stack.title}, and watch its way to the effect.
        </p>
        <div class="first-actions">
          <Button
            kind="primary"
            class="button-large"
            disabled={busy || refusal !== undefined}
            title={refusal}
            onClick={() => send({ kind: 'send', event: event.name }, onSent)}
          >
            Send the first event
          </Button>
          <SendMenu label="Another event" onSent={onSent} onWrite={onWrite} />
        </div>
        <ol class="first-steps">
          <li>
            <h2>The receiver verifies it</h2>
            <p>
              The signature is checked against the secret, the event is put on its queue, and the answer is
              200.
            </p>
          </li>
          <li>
            <h2>Its consumer takes it</h2>
            <p>
              {event.processing}. What fails is tried again, and what cannot be done becomes a dead letter.
            </p>
          </li>
          <li>
            <h2>You see what became of it</h2>
            <p>
              Each step with its time, the row before and after or the notification, and what the functions
              wrote.
            </p>
          </li>
        </ol>
        <section class="first-shell">
          <header>
            <h2>The same from a terminal, as the partner does it</h2>
            <Copy text={command} label="Copy the command" />
          </header>
          <pre class="command">{command}</pre>
        </section>
      </div>
    </div>
  );
}
