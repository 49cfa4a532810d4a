import { signal } from '@preact/signals';

/** Page width below which views are stacked. Must match the stylesheets. */
const NARROW = matchMedia('(max-width: 760px)');

export const isNarrow = signal(NARROW.matches);

NARROW.addEventListener('change', () => {
  isNarrow.value = NARROW.matches;
});
