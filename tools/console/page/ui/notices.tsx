import { useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './button.tsx';
import { focusContent } from './dialog.tsx';
import { CORNER, closed, closeToast, subjectOf, type Toast, toasts } from './toasts.ts';

/** Toasts are in a corner, where they do not move other content, and above an open dialog. */
export function Notices() {
  const own = useRef<HTMLDivElement>(null);
  const all = toasts.value;
  useLayoutEffect(() => {
    own.current?.hidePopover();
    if (all.length > 0) own.current?.showPopover();
  }, [all]);
  return (
    <div ref={own} id={CORNER} class="notices stack" role="status" popover="manual">
      {all.map((shown) => (
        <ToastBox key={subjectOf(shown)} {...shown} />
      ))}
    </div>
  );
}

function ToastBox({ level, text, about, lines = [] }: Toast) {
  const close = () => {
    if (about !== undefined) closed.add(text);
    closeToast(about ?? text);
    focusContent();
  };
  return (
    <div class={level === 'error' ? 'notice tone-bad' : 'notice'}>
      <p class="grow wrap">{text}</p>
      <IconButton icon="close" label="Close this notice" onClick={close} />
      {lines.length > 0 && (
        <details>
          <summary>Output</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls */}
          <pre class="command scrolled" tabIndex={0}>
            {lines.join('\n')}
          </pre>
        </details>
      )}
    </div>
  );
}
