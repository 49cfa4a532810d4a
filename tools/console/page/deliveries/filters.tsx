import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { states } from '../../../stage/history/history.ts';
import { stateTitle } from '../../../stage/history/state-text.ts';
import { filterBy, route } from '../route.ts';
import { stack } from '../store.ts';
import { Button, IconButton, KeyHint } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { MomentField } from '../ui/moment-field.tsx';
import { clockText, dayText } from '../ui/time.tsx';
import { isFiltered, NO_FILTERS, readMoment } from './list-filter.ts';
import { OUTCOME_WORDS, OUTCOMES, statesOf } from './outcomes.ts';

/** Milliseconds without a key press after which typed text changes the list. */
const PAUSE_MS = 200;

/** Option of the time filter that opens the fields of a range. */
const CUSTOM = 'custom';

const TIMES: readonly (readonly [since: string, label: string])[] = [
  ['', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
];

const HOUR = 3_600_000;

/** @param onLeave called to move the focus to the list */
export function Filters({ onLeave }: { onLeave: () => void }) {
  const { query } = route.value;
  const { event = '', state = '', shop = '', since = '', until = '' } = query;
  /** Whether the filters are open. Only a narrow page hides them behind a button. */
  const isOpen = useSignal(false);
  const id = useId();
  const count = [event, state, shop, since + until].filter((text) => text !== '').length;
  return (
    <search class="filters">
      <SearchBox onLeave={onLeave} />
      <Button
        class="filters-button"
        aria-expanded={isOpen.value}
        aria-controls={id}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        Filters{count > 0 && ` (${count})`}
      </Button>
      <div id={id} class={`filters-more${isOpen.value ? ' is-open' : ''}`}>
        <Select label="Event" value={event} onChange={(next) => filterBy({ event: next })}>
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
        <StateSelect value={state} onChange={(next) => filterBy({ state: next })} />
        <ShopBox />
        <TimeFilter since={since} until={until} onLeave={onLeave} />
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
        {since === '' && until === '' && (
          <Button
            kind="quiet"
            title="Shows only deliveries from now on"
            onClick={() => filterBy({ since: new Date().toISOString() })}
          >
            Hide earlier
          </Button>
        )}
      </div>
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

interface TimeFilterProps {
  since: string;
  until: string;
  onLeave: () => void;
}

/** Filter by time: a duration before now, a start, or a range. */
function TimeFilter({ since, until, onLeave }: TimeFilterProps) {
  const { change } = useChanges();
  const remove = () => {
    filterBy({ since: '', until: '' });
    onLeave();
  };
  if (until !== '') {
    return (
      <div class="row time-range">
        <MomentField label="From" value={since} onChange={(next) => change({ since: next })} />
        <MomentField label="To" value={until} onChange={(next) => change({ until: next })} />
        <IconButton icon="close" label="Remove the time range" onClick={remove} />
      </div>
    );
  }
  if (!TIMES.some(([length]) => length === since)) {
    return (
      <Button class="chip" label={`Remove: ${sinceText(since)}`} onClick={remove}>
        {sinceText(since)}
        <Icon name="close" />
      </Button>
    );
  }
  return (
    <Select
      label="Time"
      value={since}
      onChange={(next) => {
        const now = Date.now();
        const range = { since: new Date(now - HOUR).toISOString(), until: new Date(now).toISOString() };
        filterBy(next === CUSTOM ? range : { since: next });
      }}
    >
      {TIMES.map(([length, label]) => (
        <option key={length} value={length}>
          {label}
        </option>
      ))}
      <option value={CUSTOM}>Custom range …</option>
    </Select>
  );
}

/** `Since 13:04:59` or, for a length such as `45m`, `Last 45m`. */
function sinceText(since: string): string {
  const moment = readMoment(since);
  if (typeof moment !== 'object') return `Since ${since}`;
  if ('ago' in moment) return `Last ${since}`;
  const date = new Date(moment.at);
  return `Since ${dayText(date, new Date())}${clockText(date)}`;
}

function SearchBox({ onLeave }: { onLeave: () => void }) {
  // A search of a stage reads its archive and takes seconds, so it starts on Enter and not while the user types.
  const { text, type, flush } = useTyped('search', stack.local);
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
          // During composition, Enter belongs to the input method, for example to accept Japanese text.
          if (event.isComposing) return;
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

function ShopBox() {
  const { text, type, flush } = useTyped('shop', true);
  return (
    <input
      class={`field filter${text === '' ? '' : ' is-set'}`}
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

/** Changes filters while the user types. Changes in a row make one entry in the browser's history. */
function useChanges() {
  /** The address that the last change led to. */
  const address = useRef('');
  return {
    change: (filters: Readonly<Record<string, string>>) => {
      filterBy(filters, { replace: location.hash === address.current });
      address.current = location.hash;
    },
    end: () => {
      address.current = '';
    },
  };
}

/** State of a text field that changes a filter when the user pauses. */
function useTyped(name: 'search' | 'shop', whileTyping: boolean) {
  const valueNow = () => route.peek().query[name] ?? '';
  const value = route.value.query[name] ?? '';
  /**
   * The text as typed, and the filter's value at that time. If the value has changed since, for example by
   * the Back button, the text is outdated.
   */
  const typed = useSignal({ text: value, value });
  const timer = useRef(0);
  const { change, end } = useChanges();
  useEffect(() => () => clearTimeout(timer.current), []);
  const report = (text: string) => {
    clearTimeout(timer.current);
    const next = text.trim();
    if (typed.peek().value !== valueNow()) return;
    typed.value = { text, value: next };
    change({ [name]: next });
  };
  return {
    text: typed.value.value === value ? typed.value.text : value,
    type: (text: string) => {
      typed.value = { text, value: valueNow() };
      clearTimeout(timer.current);
      if (whileTyping || text === '') timer.current = Number(setTimeout(report, PAUSE_MS, text));
    },
    flush: (text: string) => {
      typed.value = { text, value: valueNow() };
      report(text);
      end();
    },
  };
}
