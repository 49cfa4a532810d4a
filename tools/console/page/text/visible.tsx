/**
 * Shows untrusted text, never as markup. Invisible characters are shown by name, and the text's direction is
 * isolated.
 */
export function Visible({ text }: { text: string }) {
  const more = text.length - MAX_SHOWN_LENGTH;
  return (
    <bdi class="visible">
      {visibleParts(text.slice(0, MAX_SHOWN_LENGTH)).map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          <span key={index} class="invisible">
            {part}
          </span>
        ),
      )}
      {more > 0 && <span class="soft"> … {more.toLocaleString('en')} more characters</span>}
    </bdi>
  );
}

/** Maximum characters of a text that is shown among other content. */
const MAX_SHOWN_LENGTH = 2_000;

/**
 * Characters that are invisible or change how others look: controls of C0 and C1, soft hyphen, marks of direction and
 * their overrides (Unicode's Bidi_Control), zero width, line and paragraph separator, byte order mark, interlinear
 * annotation, tags, halves of surrogate pairs, and a joiner that does not join two emoji. Line feed and tab are shown by
 * other means.
 */
export const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is control characters that are looked for
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]|[\ud800-\udfff]|(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|\u200d(?!\p{Extended_Pictographic})/gu;

const SEPARATOR = new RegExp(`(${INVISIBLE.source})`, 'u');

/** Splits a text: every second part is the name of an invisible character, such as `U+202E`. */
export const visibleParts = (text: string): readonly string[] =>
  text
    .replaceAll('\t', '  ')
    .split(SEPARATOR)
    .map((part, index) => (index % 2 === 0 ? part : characterName(part.codePointAt(0) ?? 0)));

const NAMES: Readonly<Record<number, string>> = { 0: 'NUL', 13: 'CR', 27: 'ESC' };

export const characterName = (code: number) =>
  NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
