import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { errorText } from './api.ts';
import { toastError } from './ui/notices.tsx';

export const Editor = onDemand(async () => (await import('./editor/editor.tsx')).Editor);

/**
 * A dialog whose script loads when the dialog first opens, because its packages are large.
 * @param load called again the next time if it fails. A failure closes the dialog
 */
function onDemand<P extends { onClose: () => void }>(
  load: () => Promise<FunctionComponent<P>>,
): FunctionComponent<P> {
  const loaded = signal<FunctionComponent<P> | undefined>(undefined);
  return (props) => {
    useEffect(() => {
      if (loaded.value !== undefined) return;
      load().then(
        (component) => {
          loaded.value = component;
        },
        (error) => {
          toastError(`This part of the page could not be loaded: ${errorText(error)}`);
          props.onClose();
        },
      );
    }, []);
    const Component = loaded.value;
    return Component === undefined ? null : <Component {...props} />;
  };
}
