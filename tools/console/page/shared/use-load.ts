import { useCallback, useEffect, useState } from 'preact/hooks';
import { errorText } from './error-text.ts';

export interface Loaded<T> {
  /** The last that came; it stays while a newer one is asked for. */
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly loading: boolean;
  readonly reload: () => void;
}

/**
 * What `load` gives, loaded anew whenever `key` changes.
 * @param key names what is loaded: that of another key is never shown
 */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; error?: string; loading: boolean }>({
    key,
    loading: true,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => (before.key === key ? { ...before, loading: true } : { key, loading: true }));
    load(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ key, value, loading: false }),
      (error) => {
        if (abort.signal.aborted) return;
        setState((before) => ({ ...before, key, error: errorText(error), loading: false }));
      },
    );
    return () => abort.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((number) => number + 1), []);
  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : undefined,
    error: isCurrent ? state.error : undefined,
    loading: !isCurrent || state.loading,
    reload,
  };
}
