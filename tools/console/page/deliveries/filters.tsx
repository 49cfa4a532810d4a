import { useEffect, useRef, useState } from 'preact/hooks';
import { isSettled, type State, states } from '../../../stage/history/history.ts';
import { stateTitle } from '../../../stage/history/words.ts';
import { Icon } from '../shared/icon.tsx';
import { useConsole } from '../shell/context.ts';
import { filterOf } from './filter-query.ts';

/** While somebody types, the list waits for a pause of this length. */
const PAUSE_MS = 200;

const TIMES: readonly (readonly [since: string, label: string])[] = [
  ['', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
];

const isDone = (state: State) => stateTitle(state).tone === 'good';

/** Several states, as values of the filter. */
const STATE_GROUPS: readonly { readonly label: string; readonly members: readonly State[] }[] = [
  { label: 'On its way', members: states.filter((state) => !isSettled(state) && state !== 'unknown') },
  { label: 'Done', members: states.filter(isDone) },
  { label: 'Needs a look', members: states.filter((state) => isSettled(state) && !isDone(state)) },
];

interface FiltersProps {
  query: Readonly<Record<string, string>>;
  onChange: (change: Readonly<Record<string, string>>) => void;
  /** From the search box into the list. */
  onLeave: () => void;
}

export function Filters({ query, onChange, onLeave }: FiltersProps) {
  const { stack } = useConsole();
  const { event = '', state = '', since = '', until = '' } = query;
  const isFiltered = Object.keys(filterOf(query)).length > 0;
  const knownStates: readonly string[] = [...STATE_GROUPS.map(({ members }) => members.join()), ...states];
  return (
    <search class="filters">
      <SearchBox
        value={query.search ?? ''}
        // A search of a stage looks through its archive: not for each letter.
        whileTyping={stack.local}
        placeholder={
          stack.local ? 'Search payloads, ids and errors' : 'Search payloads, ids and errors, with Enter'
        }
        onChange={(search) => onChange({ search })}
        onLeave={onLeave}
      />
      <div class="filter-row">
        <select
          class={`field filter${event === '' ? '' : ' is-set'}`}
          aria-label="Event"
          value={event}
          onChange={({ currentTarget }) => onChange({ event: currentTarget.value })}
        >
          <option value="">All events</option>
          {event !== '' && !stack.events.some(({ name }) => name === event) && (
            <option value={event}>{event}</option>
          )}
          {stack.events.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <select
          class={`field filter${state === '' ? '' : ' is-set'}`}
          aria-label="State"
          value={state}
          onChange={({ currentTarget }) => onChange({ state: currentTarget.value })}
        >
          <option value="">Any state</option>
          {state !== '' && !knownStates.includes(state) && <option value={state}>{state}</option>}
          {STATE_GROUPS.map(({ label, members }) => (
            <optgroup key={label} label={label}>
              <option value={members.join()}>{label}: all</option>
              {members.map((name) => (
                <option key={name} value={name}>
                  {stateTitle(name).title}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        <Typed
          class={`field filter${(query.shop ?? '') === '' ? '' : ' is-set'}`}
          label="Shop"
          value={query.shop ?? ''}
          onChange={(shop) => onChange({ shop })}
        />
        <select
          class={`field filter${since === '' ? '' : ' is-set'}`}
          aria-label="Time"
          value={since}
          onChange={({ currentTarget }) => onChange({ since: currentTarget.value, until: '' })}
        >
          {!TIMES.some(([length]) => length === since) && <option value={since}>Since {since}</option>}
          {TIMES.map(([length, label]) => (
            <option key={length} value={length}>
              {length === '' && until !== '' ? `Until ${until}` : label}
            </option>
          ))}
        </select>
        <button
          type="button"
          class="filter-clear"
          disabled={!isFiltered}
          onClick={() => onChange({ search: '', event: '', state: '', shop: '', since: '', until: '' })}
        >
          Clear
        </button>
      </div>
    </search>
  );
}

interface SearchBoxProps {
  value: string;
  whileTyping: boolean;
  placeholder: string;
  onChange: (text: string) => void;
  onLeave: () => void;
}

function SearchBox({ value, whileTyping, placeholder, onChange, onLeave }: SearchBoxProps) {
  const { text, type, flush } = useTyped(value, onChange, whileTyping);
  return (
    <div class="search-box">
      <Icon name="search" />
      <input
        id="search"
        type="search"
        class="field"
        aria-label="Search payloads, ids and errors"
        aria-keyshortcuts="/"
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.preventDefault();
            if (text === '') onLeave();
            else flush('');
          } else if (event.key === 'Enter' || event.key === 'ArrowDown') {
            event.preventDefault();
            flush(text);
            onLeave();
          }
        }}
      />
      {text === '' && (
        <span class="search-key" aria-hidden="true">
          <kbd>/</kbd>
        </span>
      )}
    </div>
  );
}

interface TypedProps {
  class: string;
  label: string;
  value: string;
  onChange: (text: string) => void;
}

function Typed({ class: className, label, value, onChange }: TypedProps) {
  const { text, type, flush } = useTyped(value, onChange, true);
  return (
    <input
      class={className}
      aria-label={label}
      placeholder={label}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => type(currentTarget.value)}
      onKeyDown={(event) => event.key === 'Enter' && flush(text)}
    />
  );
}

/** A text that is told once whoever types it pauses; it follows what the address says meanwhile. */
function useTyped(value: string, onChange: (text: string) => void, whileTyping: boolean) {
  const [text, setText] = useState(value);
  const timer = useRef(0);
  const told = useRef(value);
  useEffect(() => {
    if (value === told.current) return;
    clearTimeout(timer.current);
    told.current = value;
    setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const tell = (newer: string) => {
    clearTimeout(timer.current);
    told.current = newer.trim();
    onChange(newer.trim());
  };
  return {
    text,
    type: (newer: string) => {
      setText(newer);
      clearTimeout(timer.current);
      if (whileTyping || newer === '') timer.current = Number(setTimeout(tell, PAUSE_MS, newer));
    },
    flush: (newer: string) => {
      setText(newer);
      tell(newer);
    },
  };
}
