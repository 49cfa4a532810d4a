import { effect, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { sendCommand } from '../command.ts';
import { Code } from '../text/code.tsx';
import { formatted, jsonFault, withTimestamp } from '../text/format-json.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useRun } from '../use-run.tsx';

interface EditedBody {
  readonly title: string;
  readonly original: string;
  readonly text: string;
}

const STORAGE_KEY = 'console-editor';

/** The body that the editor shows. It is kept until it is sent or discarded, also when the page loads again. */
const edited = signal<EditedBody | undefined>(
  JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? 'null') ?? undefined,
);

effect(() => {
  if (edited.value === undefined) sessionStorage.removeItem(STORAGE_KEY);
  else sessionStorage.setItem(STORAGE_KEY, JSON.stringify(edited.value));
});

/** Opens the editor with a body. */
export function editBody(title: string, body: string): void {
  const original = formatted(body) ?? body;
  edited.value = { title, original, text: original };
}

/** The editor, if {@link editBody} has opened it. */
export const Editor = () => edited.value && <EditorDialog body={edited.value} />;

/** Dialog to edit a body, sign it with the local secret and send it. Invalid JSON is allowed, to test the receiver. */
function EditorDialog({ body }: { body: EditedBody }) {
  const { title, original, text } = body;
  const { start, busy } = useRun();
  const fault = useMemo(() => jsonFault(text), [text]);
  const dated = useMemo(() => withTimestamp(text), [text]);
  const change = (changed: string) => {
    edited.value = { ...body, text: changed };
  };
  const send = async () => {
    const sent = edited.peek() ?? body;
    const [run] = await start([sendCommand(sent.text)]);
    // What was typed before the answer is kept.
    if (run !== undefined && run.sent.length > 0 && edited.peek() === sent) edited.value = undefined;
  };
  const close = () => {
    if (text === original || confirm('Discard your changes?')) edited.value = undefined;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) void send();
  };
  return (
    <Dialog
      title={title}
      onClose={close}
      onKeyDown={onKeyDown}
      actions={
        <>
          <p class="grow soft" role="status">
            {fault ?? 'Valid JSON. Control+Enter or Command+Enter sends it.'}
          </p>
          <Button
            refusal={dated === undefined ? 'The text has no timestamp.' : undefined}
            onClick={() => change(withTimestamp(text) ?? text)}
          >
            Set timestamp to now
          </Button>
          <Button kind="primary" busy={busy} onClick={send}>
            {fault === undefined ? 'Sign and send' : 'Sign and send anyway'}
          </Button>
        </>
      }
    >
      <Code text={text} label="Body" onChange={change} />
    </Dialog>
  );
}
