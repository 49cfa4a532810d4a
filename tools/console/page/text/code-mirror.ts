import { defaultKeymap, history, historyKeymap, standardKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bidiIsolates, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { characterName, INVISIBLE } from './visible.tsx';

export interface CodeOptions {
  readonly text: string;
  readonly label: string;
  /** Called with the text after each change by the user. Undefined: the text is read-only. */
  readonly onChange?: ((text: string) => void) | undefined;
}

/**
 * Shows JSON or any other text in CodeMirror, in a shadow root. The page's Content-Security-Policy forbids `style`
 * elements, but in a shadow root CodeMirror uses constructed stylesheets. Nothing in the text is invisible or moves
 * other text. Tab is not bound, so it leaves the text (WCAG 2.1.2).
 */
export function mountCode(host: HTMLElement, { text, label, onChange }: CodeOptions): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const view = new EditorView({
    root,
    parent: root,
    doc: text,
    extensions: [
      ...(onChange === undefined ? READING : editing(onChange)),
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', autocapitalize: 'off' }),
      lineNumbers(),
      drawSelection(),
      EditorView.lineWrapping,
      json(),
      syntaxHighlighting(COLOURS),
      bidiIsolates(),
      highlightSpecialChars({ specialChars: INVISIBLE, render: nameElement }),
      THEME,
    ],
  });
  if (onChange !== undefined) view.focus();
  return view;
}

/** The text is not editable but has a cursor, so that the keyboard can select a value and scroll. */
const READING: readonly Extension[] = [
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  keymap.of(standardKeymap),
  // Only line feeds end a line, so a carriage return is visible within its line.
  EditorState.lineSeparator.of('\n'),
];

const editing = (onChange: (text: string) => void): readonly Extension[] => [
  history(),
  keymap.of([...defaultKeymap, ...historyKeymap]),
  EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged) onChange(state.doc.toString());
  }),
];

function nameElement(code: number): HTMLElement {
  const element = document.createElement('span');
  element.className = 'invisible';
  element.textContent = characterName(code);
  return element;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.number, color: 'var(--info)' },
  { tag: [tags.bool, tags.null], color: 'var(--warning)' },
]);

const THEME = EditorView.theme({
  '&': { fontSize: '12px', background: 'var(--ground-sunk)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '18px' },
  '.cm-content': { minWidth: '0', flexBasis: '0' },
  // Lines break anywhere, as in a terminal. To find better places in a line of megabytes, Chromium needs seconds.
  '.cm-line': { padding: '0 8px 0 0', wordBreak: 'break-all', overflowWrap: 'normal' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-soft)',
  },
  '.cm-gutters': { background: 'none', border: '0', color: 'var(--text-soft)' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 1ch 0 calc(8px + 1ch)', minWidth: '0' },
  '.invisible': { background: 'var(--warning-soft)', color: 'var(--warning)', fontSize: '0.85em' },
});
