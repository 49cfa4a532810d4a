import { useSignal } from '@preact/signals';
import { momentAt, readMoment } from '../deliveries/list-filter.ts';

interface MomentFieldProps {
  label: string;
  /** ISO 8601, or a duration such as `1h`, which is shown as the moment that long ago. */
  value: string;
  onChange: (iso: string) => void;
  class?: string;
  required?: boolean;
  /** Id of the element that describes the field. */
  describedBy?: string;
  isInvalid?: boolean;
}

/** A field for date and time. Shows local time, stores ISO 8601. */
export function MomentField({
  label,
  value,
  onChange,
  class: name = 'row',
  required = false,
  describedBy,
  isInvalid = false,
}: MomentFieldProps) {
  /**
   * The text of the field while the user types. The browser reports no value for a partly typed time. Without this
   * state, the given value would overwrite what the user types.
   */
  const typed = useSignal<string | undefined>(undefined);
  const shown = timeOf(value, Date.now()) ?? Number.NaN;
  return (
    <label class={name}>
      <span>{label}</span>
      <input
        type="datetime-local"
        class="field"
        step={1}
        required={required}
        aria-describedby={describedBy}
        aria-invalid={isInvalid}
        value={typed.value ?? localText(new Date(shown))}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          const next = new Date(currentTarget.value);
          if (!Number.isNaN(next.getTime())) onChange(next.toISOString());
        }}
        onBlur={() => {
          if (typed.value === '') onChange('');
          typed.value = undefined;
        }}
      />
    </label>
  );
}

/** Epoch milliseconds of a field's value. Undefined if the value is not a time. */
export function timeOf(value: string, now: number): number | undefined {
  const moment = readMoment(value);
  return moment === undefined || moment === 'invalid' ? undefined : momentAt(moment, now);
}

/** A date in the format of a `datetime-local` field: `2026-11-22T13:04:59`. */
function localText(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
