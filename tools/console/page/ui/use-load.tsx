import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { errorText } from '../api.ts';
import { ErrorNote, Loading } from './badge.tsx';

export interface LoadState<T> {
  /** The last answer, which is kept while a newer answer loads. */
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly reload: () => void;
}

/**
 * Loads a value, and loads it again if `key` or `version` changes.
 * @param key identifies the value: the value of another key is never shown
 */
export function useLoad<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  version = 0,
): LoadState<T> {
  const state = useSignal<{ key: string; value?: T | undefined; error?: string }>({ key });
  const round = useSignal(0);
  const { value, error } = state.value.key === key ? state.value : {};
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal)
      .then(
        (loaded) => ({ key, value: loaded }),
        (failure) => ({ key, value, error: errorText(failure) }),
      )
      .then((next) => {
        if (!abort.signal.aborted) state.value = next;
      });
    return () => abort.abort();
  }, [key, round.value, version]);
  const reload = () => {
    round.value += 1;
  };
  return { value, error, reload };
}

/** Text in place of a value: an error, or that the value is loading. */
export const LoadNote = ({ of: { value, error } }: { of: LoadState<unknown> }) => (
  <>
    <ErrorNote>{error}</ErrorNote>
    {value === undefined && error === undefined && <Loading />}
  </>
);
