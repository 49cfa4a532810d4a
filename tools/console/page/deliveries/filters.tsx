import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { states } from '../../../stage/history/history.ts';
import { stateTitle } from '../../../stage/history/state-text.ts';
import { stack } from '../store.ts';
import { Button, KeyHint } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { MomentField } from '../ui/moment-field.tsx';
import { isFiltered, NO_FILTERS, OUTCOME_WORDS, OUTCOMES, statesOf } from './list-filter.ts';

/** While the user types, the list updates only after a pause of this length. */
const PAUSE_MS = 200;

/** Option that shows the fields of a time range. */
const CUSTOM = 'custom';

const TIMES: readonly (readonly [since: string, label: string])[] = [
  ['', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
];

interface FiltersProps {
  query: Readonly<Record<string, string>>;
  onChange: (change: Readonly<Record<string, string>>) => void;
  onLeave: () => void;
}

export function Filters({ query, onChange, onLeave }: FiltersProps) {
  const { event = '', state = '', since = '', until = '' } = query;
  const isCustom = until !== '' || !TIMES.some(([length]) => length === since);
  return (
    <search class="filters">
      <SearchBox value={query.search ?? ''} onChange={(search) => onChange({ search })} onLeave={onLeave} />
      <Select label="Event" value={event} onChange={(next) => onChange({ event: next })}>
        <option value="">All events</option>
        {event !== '' && !stack.events.some(({ name }) => name === event) && (
          <option value={event}>{event}</option>
        )}
        {stack.events.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </Select>
      <StateSelect value={state} onChange={(next) => onChange({ state: next })} />
      <Typed value={query.shop ?? ''} onChange={(shop) => onChange({ shop })} />
      <Select
        label="Time"
        value={isCustom ? CUSTOM : since}
        onChange={(next) =>
          onChange({
            since: next === CUSTOM ? new Date(Date.now() - 3_600_000).toISOString() : next,
            until: '',
          })
        }
      >
        {TIMES.map(([length, label]) => (
          <option key={length} value={length}>
            {label}
          </option>
        ))}
        <option value={CUSTOM}>Custom range …</option>
      </Select>
      {isCustom && (
        <div class="row time-range">
          <MomentField label="From" value={since} onChange={(next) => onChange({ since: next })} />
          <MomentField label="To" value={until} onChange={(next) => onChange({ until: next })} />
        </div>
      )}
      {isFiltered(query) && (
        <Button kind="quiet" onClick={() => onChange(NO_FILTERS)}>
          Clear filters
        </Button>
      )}
      <Button
        kind="quiet"
        title="Hides all deliveries received until now. “Clear filters” shows them again."
        onClick={() => onChange({ since: new Date().toISOString(), until: '' })}
      >
        Clear list
      </Button>
    </search>
  );
}

interface SelectProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: ComponentChildren;
}

const Select = ({ label, value, onChange, children }: SelectProps) => (
  <select
    class={`field filter${value === '' ? '' : ' is-set'}`}
    aria-label={label}
    value={value}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
  >
    {children}
  </select>
);

function StateSelect({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const groups = OUTCOMES.map((outcome) => ({ label: OUTCOME_WORDS[outcome], members: statesOf(outcome) }));
  const known = [...groups.map(({ members }) => members.join()), ...states];
  return (
    <Select label="State" value={value} onChange={onChange}>
      <option value="">Any state</option>
      {value !== '' && !known.some((one) => one === value) && <option value={value}>{value}</option>}
      {groups.map(({ label, members }) => (
        <optgroup key={label} label={label}>
          <option value={members.join()}>{label}: all</option>
          {members.map((name) => (
            <option key={name} value={name}>
              {stateTitle(name).title}
            </option>
          ))}
        </optgroup>
      ))}
    </Select>
  );
}

interface SearchBoxProps {
  value: string;
  onChange: (text: string) => void;
  onLeave: () => void;
}

function SearchBox({ value, onChange, onLeave }: SearchBoxProps) {
  // A search of a stage reads its archive, which takes seconds, so it does not run for each letter.
  const { text, type, flush } = useTyped(value, onChange, stack.local);
  return (
    <div class="search-box">
      <Icon name="search" />
      <input
        id="search"
        type="search"
        class="field"
        aria-label="Search payloads, ids and errors"
        aria-keyshortcuts="/"
        placeholder={
          stack.local ? 'Search payloads, ids and errors' : 'Search payloads, ids and errors: press Enter'
        }
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
      {text === '' && <KeyHint of="/" />}
    </div>
  );
}

function Typed({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const { text, type, flush } = useTyped(value, onChange, true);
  return (
    <input
      class={`field filter${value === '' ? '' : ' is-set'}`}
      aria-label="Shop"
      placeholder="Shop"
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => type(currentTarget.value)}
      onKeyDown={(event) => event.key === 'Enter' && flush(text)}
    />
  );
}

/** A text field that reports its value when the user pauses. Otherwise it follows the address. */
function useTyped(value: string, onChange: (text: string) => void, whileTyping: boolean) {
  const [text, setText] = useState(value);
  const timer = useRef(0);
  const reported = useRef(value);
  useEffect(() => {
    if (value === reported.current) return;
    clearTimeout(timer.current);
    reported.current = value;
    setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const report = (newer: string) => {
    clearTimeout(timer.current);
    reported.current = newer.trim();
    onChange(newer.trim());
  };
  return {
    text,
    type: (newer: string) => {
      setText(newer);
      clearTimeout(timer.current);
      if (whileTyping || newer === '') timer.current = Number(setTimeout(report, PAUSE_MS, newer));
    },
    flush: (newer: string) => {
      setText(newer);
      report(newer);
    },
  };
}
