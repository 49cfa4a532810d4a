import { latencyText } from './time-text.ts';

/** `0 s`, `12 s`, `3 min`, `2 d`: how long ago something was. It may lie a little ahead, by another clock. */
export function ageText(at: string, now: number): string {
  const milliseconds = Math.max(0, now - Date.parse(at));
  return milliseconds < 60_000 ? `${Math.floor(milliseconds / 1000)} s` : latencyText(milliseconds);
}
