import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Code } from '../text/code.tsx';
import { formatted, jsonFault, withTimestamp } from '../text/format-json.ts';
import { ErrorNote } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckBox } from '../ui/field.tsx';
import { useRun } from '../use-run.tsx';

/**
 * Dialog to edit a body, sign it with the local secret and send it. Invalid JSON is allowed, to test the
 * receiver.
 */
export function Editor({ title, text: given, isEdit = false, onClose, onSent }: EditorProps) {
  const original = useMemo(() => formatted(given) ?? given, [given]);
  const text = useSignal(original);
  const error = useSignal<string | undefined>(undefined);
  const setsNow = useSignal(!isEdit);
  /** Whether the dialog asks if changes should be discarded. */
  const asks = useSignal(false);
  const { start, busy } = useRun();
  const fault = useMemo(() => jsonFault(text.value), [text.value]);
  const isChanged = text.value !== original;
  const dated = useMemo(() => withTimestamp(text.value, new Date()), [text.value]);
  const submit = async () => {
    error.value = undefined;
    const input = setsNow.value ? (withTimestamp(text.value, new Date()) ?? text.value) : text.value;
    const command = {
      argv: ['send', '--file', '-'],
      input,
      does: 'Signs this body and sends it.',
      did: 'Sent.',
    };
    const onError = (problem: string) => {
      error.value = problem;
    };
    const [run] = await start([command], { onError, onSent });
    if (run !== undefined && run.answers.length > 0) onClose();
  };
  const latest = useRef(submit);
  latest.current = submit;
  useEffect(() => {
    // Listens on the whole dialog, because the focus stays on a button after a click.
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) latest.current();
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, []);
  const close = () => {
    if (isChanged) asks.value = !asks.value;
    else onClose();
  };
  return (
    <Dialog
      title={title}
      width="wide"
      onClose={close}
      actions={
        asks.value ? (
          <>
            <p class="grow" role="alert">
              Discard your changes?
            </p>
            <Button
              onClick={() => {
                asks.value = false;
              }}
            >
              Keep editing
            </Button>
            <Button kind="danger" onClick={onClose}>
              Discard
            </Button>
          </>
        ) : (
          <>
            <p class="grow soft" role="status">
              {fault ?? 'Valid JSON'}
            </p>
            <Button
              refusal={fault === undefined ? undefined : 'Only JSON can be formatted.'}
              onClick={() => {
                text.value = formatted(text.value) ?? text.value;
              }}
            >
              Format
            </Button>
            <Button
              refusal={isChanged ? undefined : 'Nothing has changed.'}
              onClick={() => {
                text.value = original;
              }}
            >
              Undo all
            </Button>
            <Button kind="primary" busy={busy} onClick={submit}>
              {fault === undefined ? 'Sign and send' : 'Sign and send anyway'}
            </Button>
          </>
        )
      }
    >
      <ErrorNote>{error.value}</ErrorNote>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: CodeMirror's own textbox is within */}
      <div
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          // A browser closes a dialog when its `cancel` event is prevented twice, so the dialog handles Escape itself.
          event.preventDefault();
          close();
        }}
      >
        <Code
          text={text.value}
          label="Body"
          onChange={(changed) => {
            text.value = changed;
          }}
        />
      </div>
      <div class="row">
        {isEdit ? (
          <Button
            refusal={dated === undefined ? 'The text has no timestamp.' : undefined}
            onClick={() => {
              text.value = withTimestamp(text.value, new Date()) ?? text.value;
            }}
          >
            Set timestamp to now
          </Button>
        ) : (
          <CheckBox
            checked={setsNow.value}
            onChange={(on) => {
              setsNow.value = on;
            }}
          >
            Set timestamp to now
          </CheckBox>
        )}
        <p class="soft grow">
          Sent as UTF-8. Control+Enter or Command+Enter sends it.
          {given.includes('\r') && ' Carriage returns were removed: the editor does not keep them.'}
        </p>
      </div>
    </Dialog>
  );
}

interface EditorProps {
  title: string;
  text: string;
  /** Whether the text comes from a delivery. Its timestamp then changes only if the user asks for it. */
  isEdit?: boolean;
  onClose: () => void;
  onSent: (delivery: string) => void;
}
