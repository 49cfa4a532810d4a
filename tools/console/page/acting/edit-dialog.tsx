import { useMemo, useState } from 'preact/hooks';
import { Button } from '../shared/button.tsx';
import { Dialog } from '../shared/dialog.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { faultText, formatJson, textOf } from '../text/format-json.ts';
import { useSend } from './use-send.ts';

/** Characters that can be edited here: a browser takes seconds for each key in a longer text. */
export const LONGEST_EDITED = 200_000;

interface EditDialogProps {
  title: string;
  text: string;
  onClose: () => void;
  onSent: (delivery: string) => void;
}

/** Any text, signed with the local secret and sent. What is no JSON is sent all the same: that is worth a try, too. */
export function EditDialog({ title, text: original, onClose, onSent }: EditDialogProps) {
  const [text, setText] = useState(original);
  const [error, setError] = useState<string>();
  const { send, busy } = useSend(setError);
  const formatted = useMemo(() => formatJson(text), [text]);
  const submit = async () => {
    setError(undefined);
    if (await send({ kind: 'send-text', body: text }, onSent)) onClose();
  };
  return (
    <Dialog
      title={title}
      width="wide"
      onClose={onClose}
      keeps={text !== original}
      actions={
        <>
          <p class={`editor-state ${formatted.ok ? 'is-valid' : 'is-invalid'}`} role="status">
            {formatted.ok ? 'Valid JSON' : `No JSON. ${faultText(formatted.fault)}`}
          </p>
          <Button disabled={!formatted.ok} onClick={() => formatted.ok && setText(textOf(formatted.lines))}>
            Format
          </Button>
          <Button disabled={text === original} onClick={() => setText(original)}>
            Undo all
          </Button>
          <Button kind="primary" disabled={busy} onClick={submit}>
            {formatted.ok ? 'Sign and send' : 'Sign and send all the same'}
          </Button>
        </>
      }
    >
      {error !== undefined && <ErrorNote>{error}</ErrorNote>}
      <textarea
        class="editor"
        aria-label="Body"
        spellcheck={false}
        autocomplete="off"
        wrap="off"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          if (!event.repeat) submit();
        }}
      />
      <p class="soft">
        Sent as it stands here, in UTF-8. Control or Command with Enter sends it.
        {original.includes('\r') && ' Its carriage returns are gone: a browser’s editor does not keep them.'}
      </p>
    </Dialog>
  );
}
