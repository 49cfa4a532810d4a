import { effect, type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { errorText } from '../api.ts';
import { type LoadState, stack } from '../store.ts';
import { ErrorNote, Loading } from './badge.tsx';
import { Button } from './button.tsx';

/**
 * Loads a value. Loads it again if `key` changes, and when `refresh` has changed and the last answer is there.
 * @param key identifies the value: a value of another key is never shown
 * @param refresh undefined: it is loaded once
 */
export function useLoad<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  refresh?: ReadonlySignal<number>,
): LoadState<T> {
  const state = useSignal<{ key: string; value?: T; error?: string }>({ key });
  const loading = useSignal(true);
  const round = useSignal(0);
  useEffect(() => {
    const abort = new AbortController();
    /** Value of `refresh` at the last load. */
    let seen = Number.NaN;
    loading.value = false;
    const take = (change: { value: T } | { error: string }) => {
      if (abort.signal.aborted) return;
      const before = state.peek();
      state.value = 'value' in change || before.key !== key ? { key, ...change } : { ...before, ...change };
      loading.value = false;
    };
    const stop = effect(() => {
      const wanted = refresh?.value ?? 0;
      if (loading.value || wanted === seen) return;
      seen = wanted;
      loading.value = true;
      load(abort.signal).then(
        (value) => take({ value }),
        (error) => take({ error: errorText(error) }),
      );
    });
    return () => {
      stop();
      abort.abort();
    };
  }, [key, round.value]);
  const isCurrent = state.value.key === key;
  return {
    value: isCurrent ? state.value.value : undefined,
    error: isCurrent ? state.value.error : undefined,
    loading: loading.value,
    reload: () => {
      round.value += 1;
    },
  };
}

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
