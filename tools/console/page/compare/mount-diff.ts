import { json } from '@codemirror/lang-json';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { formatJson } from '../text/format-json.ts';
import { untrustedText } from '../text/untrusted-text.ts';
import { visibleParts } from '../text/visible.tsx';

interface DiffTexts {
  readonly before: string;
  readonly after: string;
  /** In one column, because two do not fit. */
  readonly isNarrow: boolean;
  /** Also lines that are equal and far from a difference. */
  readonly showsAll: boolean;
}

/** Lines shown around each difference, and the fewest equal lines that are folded. */
const COLLAPSED = { margin: 3, minSize: 6 };

/** Milliseconds for an exact comparison. After that, differences are larger than necessary. */
const diffConfig = { timeout: 500 };

/** Characters of a formatted text that are compared. A comparison of megabytes takes a minute. */
const LONGEST = 200_000;

interface MountedDiff {
  /** What the differences do not show. */
  readonly note: string | undefined;
  readonly destroy: () => void;
}

/** Shows the differences of two texts, formatted if they are JSON. */
export function mountDiff(host: HTMLElement, given: DiffTexts): MountedDiff {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const [before, after] = [shownText(given.before), shownText(given.after)];
  const note = noteOn(before, after, given);
  const options = { diffConfig, ...(!given.showsAll && { collapseUnchanged: COLLAPSED }) };
  const extensionsOf = (label: string): Extension[] => [untrustedText(label), json(), theme];
  if (given.isNarrow) {
    const unified = unifiedMergeView({ original: before.text, mergeControls: false, ...options });
    const extensions = [...extensionsOf('Newer body, with removed lines'), unified];
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({ doc: after.text, extensions }),
    });
    return { note, destroy: () => view.destroy() };
  }
  const view = new MergeView({
    root,
    parent: root,
    a: { doc: before.text, extensions: extensionsOf('Older body') },
    b: { doc: after.text, extensions: extensionsOf('Newer body') },
    ...options,
  });
  return { note, destroy: () => view.destroy() };
}

function noteOn(before: ComparedText, after: ComparedText, given: DiffTexts): string | undefined {
  if (before.isCut || after.isCut) {
    return `Only the first ${LONGEST.toLocaleString('en')} characters of each are compared.`;
  }
  if (before.text !== after.text) return undefined;
  return given.before === given.after
    ? 'They differ only in bytes that are not UTF-8.'
    : 'They differ only in white space outside of strings.';
}

interface ComparedText {
  readonly text: string;
  readonly isCut: boolean;
}

/** Formatted if it is JSON. Invisible characters are named in the text, because removed lines have no decorations. */
function shownText(given: string): ComparedText {
  const json = formatJson(given);
  const whole = json.ok ? json.text : given;
  const named = visibleParts(whole.slice(0, LONGEST))
    .map(({ text, isName }) => (isName ? `‹${text}›` : text))
    .join('');
  return { text: named.slice(0, LONGEST), isCut: whole.length > LONGEST || named.length > LONGEST };
}

/** Light enough that all colours of JSON have a contrast of 4.5 on it. */
const shade = (tone: string) => `color-mix(in srgb, var(--${tone}) 12%, transparent)`;

const theme = EditorView.theme({
  '.cm-content': { padding: '0' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 1ch', minWidth: '0' },
  '&.cm-merge-b .cm-changedLine': { background: 'var(--good-soft)' },
  '&.cm-merge-b .cm-changedText': { background: shade('good') },
  '&.cm-merge-a .cm-changedLine': { background: 'var(--bad-soft)' },
  '&.cm-merge-a .cm-changedText': { background: shade('bad') },
  '& .cm-deletedChunk': { padding: '0', background: 'var(--bad-soft)', wordBreak: 'break-all' },
  '& .cm-deletedChunk .cm-deletedText': { background: shade('bad') },
  '&.cm-merge-a .cm-changedLineGutter, & .cm-deletedLineGutter': { background: 'var(--bad)' },
  '&.cm-merge-b .cm-changedLineGutter': { background: 'var(--good)' },
  '& .cm-collapsedLines': { padding: '2px 12px', background: 'var(--line)', color: 'var(--text-soft)' },
  // CodeMirror's own characters are missing in many fonts.
  '& .cm-collapsedLines:before, & .cm-collapsedLines:after': { content: '"⋯"' },
});
