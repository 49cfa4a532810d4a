/** A count of messages: `1 message`, `12,000 messages`. */
export const messages = (count: number) => counted(count, 'message');

/** A count with its noun: `1 object`, `12,000 objects`. */
export function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count.toLocaleString('en')} ${noun}s`;
}

/** A duration in its two largest units: `3 d 4 h`, `2 h 5 min`, `12 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const parts = (
    [
      [Math.floor(seconds / 86_400), 'd'],
      [Math.floor(seconds / 3600) % 24, 'h'],
      [Math.floor(seconds / 60) % 60, 'min'],
      [seconds % 60, 's'],
    ] as const
  ).map(([amount, unit]) => ({ amount, text: `${amount} ${unit}` }));
  const largest = parts.findIndex(({ amount }) => amount > 0);
  if (largest === -1) return '0 s';
  return parts
    .slice(largest, largest + 2)
    .filter(({ amount }) => amount > 0)
    .map(({ text }) => text)
    .join(' ');
}

/** How long ago a moment was: `2 h 5 min ago`. */
export const ago = (time: Date | number = Date.now()) => `${duration(Date.now() - Number(time))} ago`;

/** A duration with as many digits as a reader needs: `12 ms`, `1.2 s`, `35 s`, `12 min 3 s`. */
export function preciseDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  return milliseconds < 10_000 ? `${(milliseconds / 1000).toFixed(1)} s` : duration(milliseconds);
}

/** Control characters of C0 and C1 except tab and line feed. A terminal may interpret them as commands. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is control characters that are looked for
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;

/** Makes text from outside safe for a terminal. */
export function printable(text: string): string {
  return text.replaceAll(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A word without characters that have a meaning in a shell. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** Quotes a text as one word of a command line, to be copied into a shell. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
