import { TAB_COLUMNS, visibleParts } from './invisible.ts';

/** Characters of a text that are shown where it stands among others. */
const LONGEST = 2_000;

/** A text from outside as it is, never as markup: what cannot be seen is named, and nothing turns its direction. */
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
        <span class="soft"> … {(text.length - shown.length).toLocaleString('en')} characters more</span>
      )}
    </bdi>
  );
}
