import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { stateTitle } from '../../../stage/history/state-text.ts';
import { filterBy, route } from '../route.ts';
import { stack } from '../store.ts';
import { Button, KeyHint } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { clockText, dayText } from '../ui/time.tsx';
import { counts } from './delivery-rows.ts';
import { isFiltered, NO_FILTERS } from './list-filter.ts';
import { OUTCOME_WORDS, OUTCOMES, statesOf } from './outcomes.ts';

/** Milliseconds without a key press after which typed text changes the list. */
const PAUSE_MS = 200;

const TIMES: readonly (readonly [since: string, label: string])[] = [
  ['', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
];

/** Value of the time filter's option that hides all deliveries so far. */
const FROM_NOW = 'now';

/** @param onLeave called to move the focus to the list */
export function Filters({ onLeave }: { onLeave: () => void }) {
  const { query } = route.value;
  return (
    <search class="filters">
      <SearchBox onLeave={onLeave} />
      <fieldset class="row" aria-label="Outcome">
        {OUTCOMES.map((outcome) => {
          const isPressed = query.outcome === outcome;
          const count = counts.value?.[outcome];
          return (
            <button
              key={outcome}
              type="button"
              class="chip"
              aria-pressed={isPressed}
              title={statesOf(outcome)
                .map((state) => stateTitle(state).title)
                .join(', ')}
              onClick={() => filterBy({ outcome: isPressed ? '' : outcome })}
            >
              {OUTCOME_WORDS[outcome]}
              <b class={outcome === 'needs-you' && count ? 'bad' : undefined}>
                {count === undefined ? '–' : count.toLocaleString('en')}
              </b>
            </button>
          );
        })}
      </fieldset>
      <TimeFilter since={query.since ?? ''} />
      {isFiltered(query) && (
        <Button
          kind="quiet"
          onClick={() => {
            filterBy(NO_FILTERS);
            onLeave();
          }}
        >
          Clear filters
        </Button>
      )}
    </search>
  );
}

function TimeFilter({ since }: { since: string }) {
  return (
    <select
      class="field"
      aria-label="Time"
      value={since}
      onChange={({ currentTarget: { value } }) =>
        filterBy({ since: value === FROM_NOW ? new Date().toISOString() : value })
      }
    >
      {TIMES.map(([length, label]) => (
        <option key={length} value={length}>
          {label}
        </option>
      ))}
      {!TIMES.some(([length]) => length === since) && <option value={since}>{sinceText(since)}</option>}
      <option value={FROM_NOW}>From now on</option>
    </select>
  );
}

function sinceText(since: string): string {
  const date = new Date(since);
  if (Number.isNaN(date.getTime())) return since;
  return `Since ${dayText(date, new Date())}${clockText(date)}`;
}

/** The search. A search of a stage reads its archive and takes seconds, so it starts on Enter. */
function SearchBox({ onLeave }: { onLeave: () => void }) {
  const { search = '' } = route.value.query;
  const text = useSignal(search);
  const timer = useRef(0);
  // The address may change otherwise: by the Back button, or by a link.
  useEffect(() => {
    clearTimeout(timer.current);
    if (text.peek().trim() !== search) text.value = search;
    return () => clearTimeout(timer.current);
  }, [search]);
  const apply = (next: string) => {
    clearTimeout(timer.current);
    // All changes of a search make one entry in the browser's history.
    filterBy({ search: next.trim() }, { replace: (route.peek().query.search ?? '') !== '' });
  };
  return (
    <div class="search-box">
      <Icon name="search" />
      <input
        id="search"
        type="search"
        class="field"
        aria-label="Search payloads, ids, shops and errors"
        aria-keyshortcuts="/"
        placeholder={`Search, or shop:… event:…${stack.local ? '' : ', then Enter'}`}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget: { value } }) => {
          text.value = value;
          clearTimeout(timer.current);
          if (stack.local || value === '') timer.current = Number(setTimeout(apply, PAUSE_MS, value));
        }}
        onKeyDown={(event) => {
          // During composition, Enter belongs to the input method, for example to accept Japanese text.
          if (event.isComposing) return;
          if (event.key === 'Escape') {
            event.preventDefault();
            if (text.value === '') onLeave();
            text.value = '';
            apply('');
          } else if (event.key === 'Enter') {
            event.preventDefault();
            apply(text.value);
            onLeave();
          }
        }}
      />
      {text.value === '' && <KeyHint of="/" />}
    </div>
  );
}
