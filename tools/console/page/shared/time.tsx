import { clockText, dayText } from './time-text.ts';

interface TimeProps {
  /** ISO 8601. */
  at: string;
  /** With the day before it, where that is not today. */
  day?: boolean;
  milliseconds?: boolean;
}

/** A moment by the clock of whoever looks; the title has it in UTC, as logs do. */
export function Time({ at, day = false, milliseconds = false }: TimeProps) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={at} class="time">
      {day && dayText(date, new Date())}
      {clockText(date, milliseconds)}
    </time>
  );
}
