import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { formatJson, jsonFault, withTimestamp } from '../text/format-json.ts';
import { ErrorNote } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckBox } from '../ui/field.tsx';
import { useSend } from '../use-run.tsx';
import type { MountedEditor } from './mount-editor.ts';

/**
 * Dialog to edit a body, sign it with the local secret and send it. Invalid JSON is allowed, to test the
 * receiver.
 */
export function Editor({ title, text: given, isEdit = false, onClose, onSent }: EditorProps) {
  const original = useMemo(() => formattedOf(given) ?? given, [given]);
  const text = useSignal(original);
  const error = useSignal<string | undefined>(undefined);
  const setsNow = useSignal(!isEdit);
  /** Whether the dialog asks if changes should be discarded. */
  const asks = useSignal(false);
  const { send, busy } = useSend((text) => {
    error.value = text;
  });
  const fault = useMemo(() => jsonFault(text.value), [text.value]);
  const isChanged = text.value !== original;
  const dated = useMemo(() => withTimestamp(text.value, new Date()), [text.value]);
  const submit = async () => {
    error.value = undefined;
    const input = setsNow.value ? (withTimestamp(text.value, new Date()) ?? text.value) : text.value;
    const command = { argv: ['send', '--file', '-'], input, does: 'Signs this body and sends it.' };
    if (await send(command, onSent)) onClose();
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
              {fault?.message ?? 'Valid JSON'}
            </p>
            <Button
              refusal={fault === undefined ? undefined : 'Only JSON can be formatted.'}
              onClick={() => {
                text.value = formattedOf(text.value) ?? text.value;
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
      <TextEditor text={text} onEscape={close} />
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

function formattedOf(text: string): string | undefined {
  const json = formatJson(text);
  return json.ok ? json.text : undefined;
}

interface TextEditorProps {
  text: Signal<string>;
  onEscape: () => void;
}

/** CodeMirror, or a plain field if it does not load. */
function TextEditor({ text, onEscape }: TextEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const isPlain = useSignal(false);
  const mounted = useRef<MountedEditor>(undefined);
  /** The text that CodeMirror contains, to tell changes by the user from those of the dialog. */
  const known = useRef(text.value);
  useEffect(() => {
    let isGone = false;
    import('./mount-editor.ts').then(
      ({ mountEditor }) => {
        if (isGone || host.current === null) return;
        mounted.current = mountEditor(host.current, {
          text: text.value,
          label: 'Body',
          onChange: (changed) => {
            known.current = changed;
            text.value = changed;
          },
        });
      },
      () => {
        isPlain.value = true;
      },
    );
    return () => {
      isGone = true;
      mounted.current?.destroy();
    };
  }, []);
  useEffect(() => {
    if (text.value !== known.current) mounted.current?.set(text.value);
    known.current = text.value;
  }, [text.value]);
  useEffect(() => field.current?.focus(), [isPlain.value]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    // A browser closes a dialog when its `cancel` event is prevented twice, so the dialog handles Escape
    // itself.
    event.preventDefault();
    onEscape();
  };
  if (!isPlain.value) {
    // biome-ignore lint/a11y/noStaticElementInteractions: CodeMirror's own textbox is within
    return <div ref={host} class="field editor" onKeyDown={onKeyDown} />;
  }
  return (
    <textarea
      ref={field}
      class="field editor"
      aria-label="Body"
      value={text.value}
      onInput={({ currentTarget }) => {
        text.value = currentTarget.value;
      }}
      onKeyDown={onKeyDown}
    />
  );
}
