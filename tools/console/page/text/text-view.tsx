import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Loading } from '../ui/badge.tsx';
import { FieldRow } from './field-row.tsx';
import type { JsonField } from './json-field.ts';
import type { MountedText } from './mount-text.ts';
import { Visible } from './visible.tsx';

/** Height of a row in pixels. Must match the stylesheet. */
const ROW_HEIGHT = 18;
const PADDING = 16;

interface TextViewProps {
  text: string;
  label: string;
  /** Maximum height in rows. Undefined: the height of its parent element. */
  rows?: number;
  /** Whether JSON is shown as it was sent, and not formatted. */
  asSent?: boolean;
  /** Whether to say why JSON is not formatted. */
  explains?: boolean;
}

/**
 * Shows a text of any size with CodeMirror. If CodeMirror cannot be loaded, it shows the beginning of the
 * text.
 */
export function TextView({ text, label, rows, asSent = false, explains = false }: TextViewProps) {
  const host = useRef<HTMLDivElement>(null);
  const mounted = useSignal<MountedText | 'loading' | 'failed'>('loading');
  const field = useSignal<JsonField | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    let unmount = () => {};
    const onField = (found: JsonField | undefined) => {
      field.value = found;
    };
    import('./mount-text.ts').then(
      ({ mountText }) => {
        if (isGone || host.current === null) return;
        const view = mountText(host.current, { text, label, formats: !asSent, onField });
        unmount = view.destroy;
        mounted.value = view;
      },
      () => {
        mounted.value = 'failed';
      },
    );
    return () => {
      isGone = true;
      field.value = undefined;
      unmount();
    };
  }, [text, asSent]);
  const view = mounted.value;
  const shown = typeof view === 'string' ? undefined : view;
  return (
    <>
      {explains && shown?.fault !== undefined && (
        <p class="note tone-warning">{shown.fault.message} It is shown as sent.</p>
      )}
      <section class="viewer" aria-label={label}>
        <div
          class="viewer-text"
          style={rows === undefined ? {} : { maxHeight: `${rows * ROW_HEIGHT + PADDING}px` }}
        >
          {view === 'loading' && <Loading />}
          {view === 'failed' && <Visible text={text} />}
          <div ref={host} />
        </div>
        {shown !== undefined && shown.fault === undefined && <FieldRow view={shown} field={field} />}
      </section>
    </>
  );
}
