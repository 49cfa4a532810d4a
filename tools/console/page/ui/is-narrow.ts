import { signal } from '@preact/signals';

/** The width below which the page is stacked. Must match the stylesheets. */
const NARROW = matchMedia('(max-width: 760px)');

export const isNarrow = signal(NARROW.matches);

NARROW.addEventListener('change', () => {
  isNarrow.value = NARROW.matches;
});
