import { effect, type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { errorText } from '../api.ts';
import { type LoadState, stack } from '../store.ts';
import { ErrorNote, Loading } from './badge.tsx';
import { Button } from './button.tsx';

/**
 * Loads a value. Loads it again if `key` changes, or if `refresh` has changed and no request is under way.
 * @param key identifies the value: the value of another key is never shown
 * @param refresh a counter; undefined loads the value only once
 * @example const item = useLoad(`${name}/${id}`, (signal) => api.table(name, { key: id }, signal), changes);
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
    /** `refresh` at the time of the last request. */
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

/** Text in place of a value: an error, or that the value is loading. */
export const LoadNote = ({ of: { value, error } }: { of: LoadState<unknown> }) => (
  <>
    <ErrorNote>{error}</ErrorNote>
    {value === undefined && error === undefined && <Loading />}
  </>
);

/** Button that loads a value again. Only for a stage, whose values are not loaded again by themselves. */
export const Refresh = ({ of: { loading, reload } }: { of: LoadState<unknown> }) =>
  stack.local ? null : (
    <Button busy={loading} onClick={reload}>
      Refresh
    </Button>
  );
