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
  /** Whether to show both texts in one column, because the page is too narrow for two. */
  readonly isNarrow: boolean;
  /** Whether to show equal lines far from a difference as well. */
  readonly showsAll: boolean;
}

/**
 * `margin`: equal lines shown around each difference. `minSize`: number of equal lines in a row that are
 * collapsed.
 */
const COLLAPSED = { margin: 3, minSize: 6 };

/** Milliseconds for an exact comparison. After them CodeMirror shows larger differences than necessary. */
const diffConfig = { timeout: 500 };

/** Maximum characters of a formatted text to compare. A comparison of megabytes takes a minute. */
const MAX_COMPARED_LENGTH = 200_000;

interface MountedDiff {
  /** Reason why the comparison is incomplete, such as a text that was cut. */
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
    return `Only the first ${MAX_COMPARED_LENGTH.toLocaleString('en')} characters of each are compared.`;
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

/**
 * A text as compared: formatted if it is JSON, with the names of invisible characters inserted, because
 * CodeMirror cannot decorate removed lines.
 */
function shownText(given: string): ComparedText {
  const json = formatJson(given);
  const whole = json.ok ? json.text : given;
  const named = visibleParts(whole.slice(0, MAX_COMPARED_LENGTH))
    .map(({ text, isName }) => (isName ? `‹${text}›` : text))
    .join('');
  return {
    text: named.slice(0, MAX_COMPARED_LENGTH),
    isCut: whole.length > MAX_COMPARED_LENGTH || named.length > MAX_COMPARED_LENGTH,
  };
}

/** A background so light that each colour of JSON has a contrast of 4.5 on it (WCAG 1.4.3). */
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
  // Many fonts lack the characters that CodeMirror uses here.
  '& .cm-collapsedLines:before, & .cm-collapsedLines:after': { content: '"⋯"' },
});
