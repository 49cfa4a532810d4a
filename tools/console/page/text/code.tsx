import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Loading } from '../ui/badge.tsx';
import type { CodeOptions, MountedCode } from './mount-code.ts';
import { Visible } from './visible.tsx';

/**
 * Characters of a read-only line above which its end is left out. A browser takes a second to draw a line of
 * megabytes.
 */
const MAX_LINE_LENGTH = 10_000;

/** JSON or any other text in CodeMirror, to read or to edit. If CodeMirror does not load, a simpler element. */
export function Code({ text, label, onChange }: CodeOptions) {
  const host = useRef<HTMLDivElement>(null);
  const mounted = useRef<MountedCode>(undefined);
  const state = useSignal<'loading' | 'ready' | 'failed'>('loading');
  /** The text that CodeMirror contains, to tell changes by the user from others. */
  const known = useRef(text);
  const latest = useRef(onChange);
  latest.current = onChange;
  const isRead = onChange === undefined;
  useEffect(() => {
    let isGone = false;
    import('./mount-code.ts').then(
      ({ mountCode }) => {
        if (isGone || host.current === null) return;
        const change = (changed: string) => {
          known.current = changed;
          latest.current?.(changed);
        };
        const shown = isRead ? shortLines(known.current) : known.current;
        const given = { text: shown, label, onChange: isRead ? undefined : change };
        mounted.current = mountCode(host.current, given);
        state.value = 'ready';
      },
      () => {
        state.value = 'failed';
      },
    );
    return () => {
      isGone = true;
      mounted.current?.destroy();
    };
  }, [label, isRead]);
  useEffect(() => {
    if (text !== known.current) mounted.current?.set(isRead ? shortLines(text) : text);
    known.current = text;
  }, [text]);
  return (
    <section class={isRead ? 'code' : 'code editor'} aria-label={isRead ? label : undefined}>
      {state.value === 'loading' && <Loading />}
      {state.value === 'failed' &&
        (isRead ? (
          <Visible text={text} />
        ) : (
          <textarea
            class="field"
            aria-label={label}
            value={text}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
        ))}
      <div ref={host} />
    </section>
  );
}

const shortLines = (text: string) =>
  text
    .split('\n')
    .map((line) => {
      if (line.length <= MAX_LINE_LENGTH) return line;
      const more = (line.length - MAX_LINE_LENGTH).toLocaleString('en');
      return `${line.slice(0, MAX_LINE_LENGTH)}… ${more} more characters. Copy or save the text to see them.`;
    })
    .join('\n');
