import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Loading } from '../ui/badge.tsx';
import { formatJson } from './format-json.ts';
import { Visible } from './visible.tsx';

/** Pixels. Must match the stylesheet. */
const ROW_HEIGHT = 18;
const PADDING = 16;

interface TextViewProps {
  text: string;
  label: string;
  isJson: boolean;
  /** Maximum height in rows. Undefined: as high as its container. */
  rows?: number;
}

/** Shows a text of any size, with CodeMirror. If that does not load, shows its beginning. */
export function TextView({ text, label, isJson, rows }: TextViewProps) {
  const host = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading');
  useEffect(() => {
    let unmount = () => {};
    let isGone = false;
    import('./mount-text.ts').then(
      ({ mountText }) => {
        if (isGone || host.current === null) return;
        const view = mountText(host.current, { text, label, isJson });
        unmount = () => view.destroy();
        setState('loaded');
      },
      () => setState('failed'),
    );
    return () => {
      isGone = true;
      unmount();
    };
  }, [text, isJson]);
  return (
    <section
      class="viewer"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
      tabIndex={0}
      style={rows === undefined ? {} : { maxHeight: `${rows * ROW_HEIGHT + PADDING}px` }}
    >
      {state === 'loading' && <Loading />}
      {state === 'failed' && <Visible text={text} />}
      <div ref={host} />
    </section>
  );
}

/** A text within other content: formatted if it is JSON. */
export function TextBlock({ text, label, rows }: { text: string; label: string; rows: number }) {
  const json = useMemo(() => formatJson(text), [text]);
  return <TextView text={json.ok ? json.text : text} isJson={json.ok} label={label} rows={rows} />;
}
