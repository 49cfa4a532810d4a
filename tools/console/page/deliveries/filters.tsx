import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { states } from '../../../stage/history/history.ts';
import { stateTitle } from '../../../stage/history/state-text.ts';
import { filterBy } from '../route.ts';
import { OUTCOMES, type OutcomeGroup, outcome, outcomeCount, outcomeOf, search } from './delivery-rows.ts';

/** Milliseconds without a key press after which typed text changes the list. */
const PAUSE_MS = 200;

/** Characters of a search, so that the address fits into the 16 KiB that Node.js accepts as headers. */
const MAX_LENGTH = 1_000;

/** @param onLeave called to move the focus to the list */
export const Filters = ({ onLeave }: { onLeave: () => void }) => (
  <>
    <SearchBox onLeave={onLeave} />
    <fieldset class="row" aria-label="Outcome">
      {OUTCOMES.map((name) => (
        <OutcomeChip key={name} name={name} />
      ))}
    </fieldset>
  </>
);

function OutcomeChip({ name }: { name: OutcomeGroup }) {
  const isPressed = outcome.value === name;
  const titles = states.flatMap((state) => (outcomeOf(state) === name ? stateTitle(state).title : []));
  return (
    <button
      type="button"
      class="button"
      aria-pressed={isPressed}
      title={titles.join(', ')}
      onClick={() => filterBy({ outcome: isPressed ? '' : name })}
    >
      {name} <b>{outcomeCount(name)?.toLocaleString('en') ?? '–'}</b>
    </button>
  );
}

function SearchBox({ onLeave }: { onLeave: () => void }) {
  const text = useSignal(search.peek());
  const timer = useRef(0);
  // The address may change otherwise: by the Back button, or by a link.
  useEffect(() => {
    clearTimeout(timer.current);
    if (text.peek().trim() !== search.value) text.value = search.value;
    return () => clearTimeout(timer.current);
  }, [search.value]);
  const apply = (next: string) => {
    clearTimeout(timer.current);
    // All changes of a search make one entry in the browser's history.
    filterBy({ search: next.trim() }, { replace: search.peek() !== '' });
  };
  return (
    <input
      id="search"
      type="search"
      class="field grow"
      aria-label="Search payloads, ids, shops and errors"
      aria-keyshortcuts="/"
      placeholder="Search ( / ), or shop:… event:…"
      maxLength={MAX_LENGTH}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={({ currentTarget: { value } }) => {
        text.value = value;
        clearTimeout(timer.current);
        timer.current = Number(setTimeout(apply, PAUSE_MS, value));
      }}
      onKeyDown={(event) => {
        // During composition, Enter belongs to the input method, for example to accept Japanese text.
        if (event.isComposing || (event.key !== 'Escape' && event.key !== 'Enter')) return;
        event.preventDefault();
        if (event.key === 'Enter' || text.value === '') onLeave();
        if (event.key === 'Escape') text.value = '';
        apply(text.value);
      }}
    />
  );
}
