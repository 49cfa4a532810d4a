import type { EditorView } from '@codemirror/view';
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { ErrorNote, Loading } from '../ui/badge.tsx';
import type { CodeOptions } from './code-mirror.ts';

/** JSON or any other text in CodeMirror, which is loaded when it is first needed: to read, or to edit. */
export function Code({ text, label, onChange }: CodeOptions) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const state = useSignal<'loading' | 'ready' | 'failed'>('loading');
  const isRead = onChange === undefined;
  const latest = useRef({ text, onChange });
  latest.current = { text, onChange };
  useEffect(() => {
    let isGone = false;
    const mount = async () => {
      const { mountCode } = await import('./code-mirror.ts');
      if (isGone || host.current === null) return;
      const change = (changed: string) => latest.current.onChange?.(changed);
      const onEdit = isRead ? undefined : change;
      view.current = mountCode(host.current, { text: latest.current.text, label, onChange: onEdit });
      state.value = 'ready';
    };
    mount().catch(() => {
      state.value = 'failed';
    });
    return () => {
      isGone = true;
      view.current?.destroy();
    };
  }, [label, isRead]);
  // A layout effect, so that the user cannot type between the drawing and the comparison.
  useLayoutEffect(() => {
    const { doc } = view.current?.state ?? {};
    if (doc === undefined || doc.toString() === text) return;
    view.current?.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }, [text]);
  return (
    <section class={isRead ? 'code' : 'code editor'} aria-label={isRead ? label : undefined}>
      {state.value === 'loading' && <Loading />}
      {state.value === 'failed' && (
        <ErrorNote>This part of the page did not load. Reload the page.</ErrorNote>
      )}
      <div ref={host} />
    </section>
  );
}
