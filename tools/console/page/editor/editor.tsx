import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { faultText, formatJson } from '../text/format-json.ts';
import { ErrorNote } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckBox } from '../ui/field.tsx';
import { useSend } from '../use-run.tsx';
import type { MountedEditor } from './mount-editor.ts';

/**
 * Edits a body, which is signed with the local secret and sent. Text that is not JSON can be sent, too, to test the
 * receiver.
 */
export function Editor({ title, text: given, isEdit = false, onClose, onSent }: EditorProps) {
  const original = useMemo(() => formattedOf(given) ?? given, [given]);
  const text = useSignal(original);
  const [error, setError] = useState<string>();
  const [setsNow, setSetsNow] = useState(!isEdit);
  const [asks, setAsks] = useState(false);
  const { send, busy } = useSend(setError);
  const json = useMemo(() => formatJson(text.value), [text.value]);
  const isChanged = text.value !== original;
  const dated = useMemo(() => withTimestamp(text.value, new Date()), [text.value]);
  const submit = async () => {
    setError(undefined);
    const input = setsNow ? (withTimestamp(text.value, new Date()) ?? text.value) : text.value;
    const command = { argv: ['send', '--file', '-'], input, does: 'Signs this body and sends it.' };
    if (await send(command, onSent)) onClose();
  };
  const latest = useRef(submit);
  latest.current = submit;
  useEffect(() => {
    // In the whole dialog, because a button that was clicked keeps the focus.
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
    if (isChanged) setAsks(!asks);
    else onClose();
  };
  return (
    <Dialog
      title={title}
      width="wide"
      onClose={close}
      actions={
        asks ? (
          <>
            <p class="grow" role="alert">
              Discard your changes?
            </p>
            <Button onClick={() => setAsks(false)}>Keep editing</Button>
            <Button kind="danger" onClick={onClose}>
              Discard
            </Button>
          </>
        ) : (
          <>
            <p class="grow soft" role="status">
              {json.ok ? 'Valid JSON' : `Not JSON. ${faultText(json.fault)}`}
            </p>
            <Button
              refusal={json.ok ? undefined : 'Only JSON can be formatted.'}
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
              {json.ok ? 'Sign and send' : 'Sign and send anyway'}
            </Button>
          </>
        )
      }
    >
      <ErrorNote>{error}</ErrorNote>
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
          <CheckBox checked={setsNow} onChange={setSetsNow}>
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

/** Maximum characters that can be edited here. With a longer text, a browser takes seconds for each key. */
export const LONGEST_EDITED = 200_000;

interface EditorProps {
  title: string;
  text: string;
  /** The text comes from a delivery. Its timestamp changes only on request. */
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
  const [isPlain, setIsPlain] = useState(false);
  const mounted = useRef<MountedEditor>(undefined);
  /** The text that CodeMirror currently contains. */
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
      () => setIsPlain(true),
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
  useEffect(() => field.current?.focus(), [isPlain]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    // A browser closes a dialog anyway if its `cancel` event was prevented twice.
    event.preventDefault();
    onEscape();
  };
  if (!isPlain) {
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

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/**
 * Replaces the value of the top-level key `timestamp` and changes nothing else. With duplicate keys the last one
 * changes, because parsers use the last.
 * @returns undefined if the text is not a JSON object with this key
 */
export function withTimestamp(text: string, now: Date): string | undefined {
  if (!formatJson(text).ok) return undefined;
  const tokens = tokensOf(text);
  const colon = tokens.findLastIndex(
    ({ token, depth }, index) =>
      depth === 1 && token === ':' && JSON.parse(tokens[index - 1]?.token ?? '') === 'timestamp',
  );
  const first = tokens[colon + 1];
  if (colon === -1 || first === undefined) return undefined;
  const isContainer = '{['.includes(first.token);
  const last = isContainer ? tokens.find(({ depth }, index) => index > colon + 1 && depth === 1) : first;
  return `${text.slice(0, first.start)}${JSON.stringify(now.toISOString())}${text.slice(last?.end)}`;
}

/** The tokens of JSON text. A bracket has the depth of the value around it. */
function tokensOf(text: string) {
  let depth = 0;
  return [...text.matchAll(TOKEN)].map(({ 0: token, index: start }) => {
    if ('}]'.includes(token)) depth -= 1;
    const found = { token, depth, start, end: start + token.length };
    if ('{['.includes(token)) depth += 1;
    return found;
  });
}
