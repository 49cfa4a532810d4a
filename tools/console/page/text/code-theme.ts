import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--json-key)' },
  { tag: tags.string, color: 'var(--json-string)' },
  { tag: tags.number, color: 'var(--json-number)' },
  { tag: [tags.bool, tags.null], color: 'var(--json-literal)' },
]);

/** Colours of JSON, typeface and cursor, for the editor and the read-only views. */
export const codeTheme = [
  syntaxHighlighting(colours),
  EditorView.theme({
    '&': { fontSize: '12px', background: 'var(--ground-sunk)', color: 'var(--text)' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '18px' },
    '.cm-cursor': { borderLeftColor: 'var(--text)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
      background: 'var(--accent-soft)',
    },
    '.cm-gutters': { background: 'none', border: '0', color: 'var(--text-faint)' },
  }),
];
