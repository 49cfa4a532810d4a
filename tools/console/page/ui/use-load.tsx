import { useCallback, useEffect, useState } from 'preact/hooks';
import { errorText } from '../api.ts';
import { type LoadState, stack, tasks } from '../store.ts';
import { ErrorNote, Loading } from './badge.tsx';
import { Button } from './button.tsx';

/**
 * Loads a value. Loads it again if `key` changes, when a task ends, and at intervals while the page is visible.
 * @param key identifies the value: a value of another key is never shown
 * @param every milliseconds; undefined: no interval
 */
export function useLoad<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  every?: number | undefined,
): LoadState<T> {
  const [state, setState] = useState<{ key: string; value?: T; error?: string }>({ key });
  const [round, setRound] = useState(0);
  const [loading, setLoading] = useState(true);
  const reload = useCallback(() => setRound((number) => number + 1), []);
  const ended = tasks.value.filter((task) => task.state !== 'running').length;
  useEffect(() => {
    const abort = new AbortController();
    const onSeen = () => document.hidden || reload();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setLoading(true);
    load(abort.signal)
      .then(
        (value) => abort.signal.aborted || setState({ key, value }),
        (error) => {
          if (abort.signal.aborted) return;
          setState((before) => ({ ...(before.key === key ? before : { key }), error: errorText(error) }));
        },
      )
      .finally(() => {
        if (abort.signal.aborted) return;
        setLoading(false);
        if (every === undefined) return;
        timer = setTimeout(() => {
          if (document.hidden) document.addEventListener('visibilitychange', onSeen);
          else reload();
        }, every);
      });
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onSeen);
    };
  }, [key, round, ended, every]);
  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : undefined,
    error: isCurrent ? state.error : undefined,
    loading,
    reload,
  };
}

/** Milliseconds between two reads of the local stack. Reading a stage costs money, so it happens only on request. */
const LOCAL_REFRESH = 2_000;

/** For {@link useLoad}: every two seconds on the local stack, never on a stage. */
export const localRefresh = () => (stack.local ? LOCAL_REFRESH : undefined);

/** Why a value is not there: an error, or it is still loading. */
export const LoadNote = ({ of: { value, error } }: { of: LoadState<unknown> }) => (
  <>
    <ErrorNote>{error}</ErrorNote>
    {value === undefined && error === undefined && <Loading />}
  </>
);

/** For a stage, whose values are read only on request. */
export const Refresh = ({ of: { loading, reload } }: { of: LoadState<unknown> }) =>
  stack.local ? null : (
    <Button busy={loading} onClick={reload}>
      Refresh
    </Button>
  );
