const two = (number: number) => String(number).padStart(2, '0');

/** `13:04:59` or `13:04:59.123`. Not of `Intl`, which takes too long for each row of a list. */
export function clockText(date: Date, milliseconds: boolean): string {
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return milliseconds ? `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}` : clock;
}

/** `11-21 ` of another day of this year, `2025-11-21 ` of another year, nothing of today. */
export function dayText(date: Date, now: Date): string {
  if (date.toDateString() === now.toDateString()) return '';
  const day = `${two(date.getMonth() + 1)}-${two(date.getDate())} `;
  return date.getFullYear() === now.getFullYear() ? day : `${date.getFullYear()}-${day}`;
}

/**
 * A moment in a narrow column: `13:04:59.123` of today, `11-21 13:04:59` of another day, `2025-11-21` of another year.
 */
export function shortMomentText(date: Date, now: Date): string {
  const day = dayText(date, now);
  if (day === '') return clockText(date, true);
  return date.getFullYear() === now.getFullYear() ? `${day}${clockText(date, false)}` : day.trim();
}

/** `12 ms`, `1.2 s`, `35 s`, `12 min`: in as few digits as tell two apart. */
export function latencyText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (milliseconds < 60_000) return `${Math.round(milliseconds / 1000)} s`;
  if (milliseconds < 3_600_000) return `${Math.round(milliseconds / 60_000)} min`;
  if (milliseconds < 172_800_000) return `${Math.round(milliseconds / 3_600_000)} h`;
  return `${Math.round(milliseconds / 86_400_000)} d`;
}

/** `0 bytes`, `812 bytes`, `3.1 kB`, `4.0 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
