import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { stateTitle } from '../../../stage/history/state-text.ts';
import { filterBy, route } from '../route.ts';
import { hasModifier } from '../shortcuts.ts';
import { rows as stored } from '../store.ts';
import { clockText, dayText, now } from '../ui/time.tsx';
import { isThere } from './delivery-rows.ts';
import type { ListFilter } from './list-filter.ts';
import {
  countOutcomes,
  OUTCOME_WORDS,
  OUTCOMES,
  type OutcomeGroup,
  type Outcomes,
  rateText,
  stackOf,
  statesOf,
} from './outcomes.ts';

/** Height of the bars in pixels. Must match the stylesheet. */
const HEIGHT = 32;

const DAY = 86_400_000;

/** Deliveries over time and by outcome. Clicking a bar or a count filters the list. */
export function OutcomeStrip({ filter }: { filter: ListFilter }) {
  const chosen = route.value.query.state;
  // Counted once per change of the rows, not on each render.
  const outcomes = useMemo(
    () => countOutcomes(stored.peek().all, filter, now.value),
    [now.value, filter, isThere.value],
  );
  return (
    <div class="strip row">
      <Bars outcomes={outcomes} states={filter.states} />
      <fieldset class="outcome-filters" aria-label="Outcome">
        {OUTCOMES.map((outcome) => {
          const states = statesOf(outcome).join();
          const isPressed = chosen === states;
          return (
            <button
              key={outcome}
              type="button"
              class="outcome-filter"
              aria-pressed={isPressed}
              title={statesOf(outcome)
                .map((state) => stateTitle(state).title)
                .join(', ')}
              onClick={() => filterBy({ state: isPressed ? '' : states })}
            >
              <span class={`dot is-${outcome}`} />
              <span>{OUTCOME_WORDS[outcome]}</span>
              <b class="end">{outcomes.total[outcome].toLocaleString('en')}</b>
            </button>
          );
        })}
      </fieldset>
    </div>
  );
}

interface BarsProps {
  outcomes: Outcomes;
  /** States selected in the filter. Bars of other outcomes are dimmed. */
  states: ListFilter['states'];
}

function Bars({ outcomes: { bars, from, step, total }, states }: BarsProps) {
  const element = useRef<HTMLDivElement>(null);
  /** First and last bar of the range selected with the pointer; equal for a single bar. */
  const brush = useSignal<{ readonly start: number; readonly end: number } | undefined>(undefined);
  const isDragged = useRef(false);
  const last = bars.length - 1;
  const clamp = (index: number) => Math.min(last, Math.max(0, index));
  const start = clamp(brush.value?.start ?? last);
  const end = clamp(brush.value?.end ?? last);
  const [low, high] = [Math.min(start, end), Math.max(start, end)];

  const barAt = (event: PointerEvent) => {
    const box = element.current?.getBoundingClientRect();
    if (box === undefined) return last;
    return clamp(Math.floor(((event.clientX - box.left) / box.width) * bars.length));
  };
  const choose = () => {
    if (countText(bars.slice(low, high + 1)) === NOTHING) return;
    const iso = (index: number) => new Date(from + index * step).toISOString();
    brush.value = undefined;
    filterBy({ since: iso(low), until: iso(high + 1) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (hasModifier(event)) return;
    const to = { ArrowLeft: end - 1, ArrowRight: end + 1, Home: 0, End: last }[event.key];
    if (to !== undefined) brush.value = { start: event.shiftKey ? start : clamp(to), end: clamp(to) };
    else if (event.key === 'Enter') choose();
    else if (event.key === 'Escape' && brush.value !== undefined) brush.value = undefined;
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const time = (index: number) => momentText(new Date(from + index * step), now.value, step);
  const range = `${time(low)} – ${time(high + 1)}: ${countText(bars.slice(low, high + 1))}`;
  const highest = Math.max(1, ...bars.map((bar) => OUTCOMES.reduce((sum, outcome) => sum + bar[outcome], 0)));
  const all = `${countText([total])} since ${time(0)}`;
  const dims = (outcome: OutcomeGroup) =>
    states !== undefined && !statesOf(outcome).some((state) => states.has(state));
  return (
    <div class="bars">
      <div
        ref={element}
        role="slider"
        class="bars-area"
        tabIndex={0}
        aria-label={`Deliveries ${rateText(step)}. ${all}. Enter filters by the selected time, Shift with an arrow key extends it`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={end}
        aria-valuetext={range}
        onKeyDown={onKeyDown}
        onBlur={() => {
          brush.value = undefined;
        }}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.preventDefault();
          event.currentTarget.setPointerCapture(event.pointerId);
          isDragged.current = true;
          brush.value = { start: barAt(event), end: barAt(event) };
        }}
        onPointerMove={(event) => {
          const to = barAt(event);
          brush.value = { start: isDragged.current ? start : to, end: to };
        }}
        onPointerUp={() => {
          if (isDragged.current) choose();
          isDragged.current = false;
        }}
        onPointerCancel={() => {
          isDragged.current = false;
          brush.value = undefined;
        }}
        onPointerLeave={() => {
          if (!isDragged.current) brush.value = undefined;
        }}
      >
        <svg viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {brush.value !== undefined && (
            <rect class="brush" x={low} y={0} width={high - low + 1} height={HEIGHT} />
          )}
          <defs>
            {/* Hatching marks deliveries that need a person, because not everybody sees the colours. */}
            <pattern id="hatch" width={1} height={4} y={1} patternUnits="userSpaceOnUse">
              <rect class="hatch-ground" width={1} height={4} />
              <rect class="hatch-line" width={1} height={3} />
            </pattern>
          </defs>
          {OUTCOMES.map((outcome) => (
            <path
              key={outcome}
              class={`is-${outcome}${dims(outcome) ? ' is-dimmed' : ''}`}
              d={bars.map((bar, index) => barPath(bar, index, outcome, highest)).join('')}
            />
          ))}
        </svg>
      </div>
      <p class="bars-scale soft" aria-hidden="true">
        <span>{time(0)}</span>
        <span>{brush.value === undefined ? rateText(step) : range}</span>
        <span>{from + (last + 1) * step > now.value ? 'now' : time(last + 1)}</span>
      </p>
    </div>
  );
}

function barPath(
  bar: Outcomes['bars'][number],
  index: number,
  outcome: OutcomeGroup,
  highest: number,
): string {
  const part = stackOf(bar, highest, HEIGHT).find((one) => one.outcome === outcome);
  if (part === undefined) return '';
  return `M${index + 0.1} ${HEIGHT - part.bottom}h.8v${-part.height}h-.8z`;
}

const NOTHING = 'no deliveries';

function countText(bars: Outcomes['bars']): string {
  const parts = OUTCOMES.flatMap((outcome) => {
    const count = bars.reduce((sum, bar) => sum + bar[outcome], 0);
    return count === 0 ? [] : [`${count.toLocaleString('en')} ${OUTCOME_WORDS[outcome].toLowerCase()}`];
  });
  return parts.length === 0 ? NOTHING : parts.join(', ');
}

/** A bar's time, such as `13:04`, with the day if it is not today, or `11-21` if the bar is a day. */
function momentText(date: Date, at: number, step: number): string {
  const day = dayText(date, new Date(at));
  return step >= DAY && day !== '' ? day.trim() : `${day}${clockText(date).slice(0, 5)}`;
}
