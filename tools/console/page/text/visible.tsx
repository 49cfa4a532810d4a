import { Time } from '../ui/time.tsx';

/**
 * Shows untrusted text, never as markup. Invisible characters are shown by name, and the text's direction is
 * isolated.
 */
export function Visible({ text }: { text: string }) {
  const shown = text.slice(0, MAX_SHOWN_LENGTH);
  const parts = visibleParts(shown.replaceAll('\t', ' '.repeat(TAB_COLUMNS)));
  return (
    <bdi class="visible">
      {parts.map((part, index) =>
        part.isName ? (
          <span key={index} class="invisible">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
      {shown.length < text.length && (
        <span class="soft"> … {(text.length - shown.length).toLocaleString('en')} more characters</span>
      )}
    </bdi>
  );
}

/**
 * Characters that are invisible or change how others look: controls of C0 and C1, soft hyphen, marks of direction and
 * their overrides (Unicode's Bidi_Control), zero width, line and paragraph separator, byte order mark, interlinear
 * annotation, tags, and halves of surrogate pairs. Line feed and tab are shown by other means.
 */
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is control characters that are looked for
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/u;

/**
 * Emoji that invisible characters join into one: by U+200D, four at most as in the longest of Unicode's
 * emoji-zwj-sequences.txt, or by tags, as in the flags of England, Scotland and Wales.
 */
const JOINED_EMOJI =
  /(?:\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?\u200d){1,3}\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?|\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/uy;

/** Matches an emoji (group 1), or a run of one invisible character. */
export const NAMED = new RegExp(`(${JOINED_EMOJI.source})|(${INVISIBLE.source})\\2*`, 'gu');

interface TextPart {
  readonly text: string;
  /** Whether the text is the name of an invisible character. */
  readonly isName: boolean;
}

/** Splits a text so that each invisible character can be shown by its name, such as `U+202E`. */
export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(NAMED)) {
    if (match[1] !== undefined) continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index), isName: false });
    parts.push({ text: nameOfRun(match[0]), isName: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), isName: false });
  return parts;
}

const NAMES: Readonly<Record<number, string>> = {
  0: 'NUL',
  7: 'BEL',
  8: 'BS',
  13: 'CR',
  27: 'ESC',
  127: 'DEL',
};

/** Name of a run of one character, such as `NUL`, or `U+202E ×3`. */
export function nameOfRun(run: string): string {
  const code = run.codePointAt(0) ?? 0;
  const count = run.length / String.fromCodePoint(code).length;
  const name = NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return count === 1 ? name : `${name} ×${count}`;
}

const TAB_COLUMNS = 2;

/** Maximum characters of a text that is shown among other content. */
const MAX_SHOWN_LENGTH = 2_000;

/** A sentence whose times in ISO 8601 are shown in the page's format. */
export function Sentence({ text }: { text: string }) {
  const parts = text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/);
  return parts.map((part, index) =>
    index % 2 === 1 ? <Time key={index} at={part} /> : <Visible key={index} text={part} />,
  );
}
