import { ageText } from './age-text.ts';

/** How long ago something was; the title has the moment. */
export function Age({ at, suffix = '' }: { at: string; suffix?: ' ago' | '' }) {
  return (
    <time dateTime={at} title={at} class="age">
      {ageText(at, Date.now())}
      {suffix}
    </time>
  );
}
