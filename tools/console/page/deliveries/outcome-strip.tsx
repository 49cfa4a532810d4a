import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import { stateTitle } from '../../../stage/history/state-text.ts';
import { clockText, dayText } from '../ui/time.tsx';
import { type ListFilter, OUTCOME_WORDS, OUTCOMES, type OutcomeGroup, statesOf } from './list-filter.ts';
import { countOutcomes, type Outcomes, rateText, stackOf } from './outcomes.ts';

/** Height of the bars in pixels. Must match the stylesheet. */
const HEIGHT = 32;

const DAY = 86_400_000;

interface OutcomeStripProps {
  rows: readonly Delivery[];
  /** All rows of the search have arrived. */
  ready: boolean;
  filter: ListFilter;
  /** Epoch milliseconds. Bars and counts are recomputed when this or the address changes, but not for each delivery. */
  now: number;
  query: Readonly<Record<string, string>>;
  onChange: (change: Readonly<Record<string, string>>) => void;
}

/** Deliveries over time and by outcome. Clicking a bar or a count filters the list. */
export function OutcomeStrip({ rows, ready, filter, now, query, onChange }: OutcomeStripProps) {
  const outcomes = useMemo(() => countOutcomes(rows, filter, now), [now, filter, ready]);
  return (
    <div class="strip row">
      <Bars outcomes={outcomes} chosen={query.state ?? ''} now={now} onChange={onChange} />
      <fieldset class="outcome-filters" aria-label="Outcome">
        {OUTCOMES.map((outcome) => {
          const states = statesOf(outcome).join();
          const isPressed = query.state === states;
          return (
            <button
              key={outcome}
              type="button"
              class="outcome-filter"
              aria-pressed={isPressed}
              title={statesOf(outcome)
                .map((state) => stateTitle(state).title)
                .join(', ')}
              onClick={() => onChange({ state: isPressed ? '' : states })}
            >
              <span class={`dot is-${outcome}`} />
              {OUTCOME_WORDS[outcome]}
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
  /** The states of the filter. Bars of other outcomes are dimmed. */
  chosen: string;
  now: number;
  onChange: (change: Readonly<Record<string, string>>) => void;
}

function Bars({ outcomes: { bars, from, step, total }, chosen, now, onChange }: BarsProps) {
  const element = useRef<HTMLDivElement>(null);
  /** First and last bar of the selected range; equal for one bar. */
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
    onChange({ since: iso(low), until: iso(high + 1) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { ArrowLeft: end - 1, ArrowRight: end + 1, Home: 0, End: last }[event.key];
    if (to !== undefined) brush.value = { start: event.shiftKey ? start : clamp(to), end: clamp(to) };
    else if (event.key === 'Enter') choose();
    else if (event.key === 'Escape' && brush.value !== undefined) brush.value = undefined;
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const time = (index: number) => momentText(new Date(from + index * step), now, step);
  const range = `${time(low)} – ${time(high + 1)}: ${countText(bars.slice(low, high + 1))}`;
  const highest = Math.max(1, ...bars.map(({ good, warning, bad }) => good + warning + bad));
  const all = `${countText([total])} since ${time(0)}`;
  const dims = (outcome: OutcomeGroup) => chosen !== '' && !statesOf(outcome).some((s) => chosen.includes(s));
  return (
    <div class="bars">
      <div
        ref={element}
        role="slider"
        class="bars-area"
        tabIndex={0}
        aria-label={`Deliveries ${rateText(step)}. ${all}. Enter shows only the chosen time, Shift with an arrow extends it`}
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
        <span>{from + (last + 1) * step > now ? 'now' : time(last + 1)}</span>
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

/** Text such as `13:04`, with the day if it is not today; `11-21` if a bar is a day. */
function momentText(date: Date, now: number, step: number): string {
  const day = dayText(date, new Date(now));
  return step >= DAY && day !== '' ? day.trim() : `${day}${clockText(date).slice(0, 5)}`;
}
