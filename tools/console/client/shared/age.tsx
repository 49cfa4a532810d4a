import { latencyText } from './time-text.ts';

/** How long ago something was; the title has the moment. */
export function Age({ at, suffix = '' }: { at: string; suffix?: ' ago' | '' }) {
  return (
    <time dateTime={at} title={at} class="age">
      {latencyText(Math.max(0, Date.now() - Date.parse(at)))}
      {suffix}
    </time>
  );
}
