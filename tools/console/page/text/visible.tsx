import { Time } from '../ui/time.tsx';

/**
 * Characters that are not seen, or that change how others are seen: controls of C0 and C1, soft hyphen, marks of
 * direction and their overrides (Unicode's Bidi_Control), zero width, line and paragraph separator, byte order mark,
 * interlinear annotation, tags, and halves of surrogate pairs. Line feed and tab are shown by other means.
 */
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is control characters that are looked for
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/u;

/**
 * Emoji that invisible characters join to one: by U+200D, four at most as in the longest of Unicode's
 * emoji-zwj-sequences.txt, and the flags of England, Scotland and Wales, by tags.
 */
export const JOINED_EMOJI =
  /(?:\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?\u200d){1,3}\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?|\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/uy;

const NAMED = new RegExp(`(${JOINED_EMOJI.source})|${INVISIBLE.source}`, 'gu');

interface Part {
  readonly text: string;
  /** The name of a character that cannot be seen. */
  readonly isName: boolean;
}

/** A text as it can be shown: each invisible character by its name, `U+202E`. */
export function visibleParts(text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of text.matchAll(NAMED)) {
    if (match[1] !== undefined) continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index), isName: false });
    parts.push({ text: nameOf(match[0].codePointAt(0) ?? 0), isName: true });
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

const nameOf = (code: number) => NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;

/** Columns that a name takes, with the space around it. */
const NAME_COLUMNS = 8;

/** Columns of a tab. */
const TAB_COLUMNS = 2;

/** How many columns of a monospace font a character takes, at most. */
export function columnsOf(code: number): number {
  if (code >= 0x20 && code < 0x7f) return 1;
  if (code === 0x09) return TAB_COLUMNS;
  if (code < 0xa0 || INVISIBLE.test(String.fromCodePoint(code))) return NAME_COLUMNS;
  return code < 0x1100 ? 1 : 2;
}

/** Characters that are shown of a text among others. */
const LONGEST = 2_000;

/** A text from outside, never as markup. What cannot be seen is named, and its direction stays its own. */
export function Visible({ text, whole = false }: { text: string; whole?: boolean }) {
  const shown = whole || text.length <= LONGEST ? text : text.slice(0, LONGEST);
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

/** A text with times in ISO 8601, which it shows as all times are shown. */
export function Sentence({ text }: { text: string }) {
  const parts = text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/);
  return parts.map((part, index) =>
    index % 2 === 1 ? <Time key={index} at={part} /> : <Visible key={index} text={part} />,
  );
}
