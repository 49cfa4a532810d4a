import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { duration } from '../../../terminal/text.ts';

/** Its tooltip is the same moment in UTC, as in the logs. @param at ISO 8601 */
const Moment = ({ at, children }: { at: string; children: ComponentChildren }) => (
  <time dateTime={at} title={`${at.replace('T', ' ').replace('Z', '')} UTC`} class="time">
    {children}
  </time>
);

/** A moment in local time: {@link timeText}. @param at ISO 8601 */
export const Time = ({ at, milliseconds }: { at: string; milliseconds?: boolean }) => (
  <Moment at={at}>{timeText(at, milliseconds)}</Moment>
);

const two = (number: number) => String(number).padStart(2, '0');

/**
 * Local time such as `13:04:59` or `13:04:59.123`, with its day if that is not today. `Intl` is too slow for each row of
 * a list.
 */
export function timeText(at: string, milliseconds = false): string {
  const date = new Date(at);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const fraction = milliseconds ? `.${String(date.getMilliseconds()).padStart(3, '0')}` : '';
  return dayText(date, new Date()) + clock + fraction;
}

/** The day before a time: `11-21 ` in this year, `2025-11-21 ` in another year, empty for today. */
export function dayText(date: Date, now: Date): string {
  if (date.toDateString() === now.toDateString()) return '';
  const day = `${two(date.getMonth() + 1)}-${two(date.getDate())} `;
  return date.getFullYear() === now.getFullYear() ? day : `${date.getFullYear()}-${day}`;
}

/** How long ago a moment was: `12 s`, `3 min`, `2 d`. A moment in the future, by another clock, is `0 s` ago. */
export function ageText(at: string, now: number): string {
  const seconds = Math.floor((now - Date.parse(at)) / 1000);
  // The seconds of minutes would change all the time.
  return duration((seconds < 60 ? seconds : seconds - (seconds % 60)) * 1000);
}

/** A size: `0 bytes`, `812 bytes`, `3.1 kB`, `4.0 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

let timer: ReturnType<typeof setInterval>;

/** The time in epoch milliseconds. The time advances every second while an element shows it. */
export const now = signal(Date.now(), {
  watched() {
    const tick = () => {
      this.value = Date.now();
    };
    tick();
    timer = setInterval(tick, 1_000);
  },
  unwatched: () => clearInterval(timer),
});

/** @param at ISO 8601 */
export const Age = ({ at, suffix = ' ago' }: { at: string; suffix?: ' ago' | '' }) => (
  <Moment at={at}>{ageText(at, now.value) + suffix}</Moment>
);
