import { json } from '@codemirror/lang-json';
import { codeFolding, foldable, foldEffect, foldGutter, toggleFold, unfoldAll } from '@codemirror/language';
import { EditorState, Prec, StateField } from '@codemirror/state';
import { Decoration, drawSelection, EditorView, keymap } from '@codemirror/view';
import { formatJson, type JsonFault } from './format-json.ts';
import { fieldAtCursor, type JsonField } from './json-field.ts';
import { untrustedText } from './untrusted-text.ts';

/**
 * Shows a read-only text of any size. CodeMirror draws only the visible part. The view is as high as the
 * text, and scrolls with its parent elements.
 */
export function mountText(host: HTMLElement, { text, label, formats, onField }: ShownText): MountedText {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const formatted = formatJson(text);
  const isFormatted = formatted.ok && formats;
  const state = EditorState.create({
    doc: isFormatted ? formatted.text : text,
    extensions: [
      untrustedText(label),
      folding,
      isFormatted ? foldGutter() : [],
      formatted.ok ? [json(), chosenField(onField)] : [],
      drawSelection(),
      theme,
    ],
  });
  const view = new EditorView({ root, parent: root, state: withShortLines(state) });
  return {
    fault: formatted.ok ? undefined : formatted.fault,
    canFold: isFormatted && /\n.*[{[]$/m.test(formatted.text),
    foldAll: () => foldAll(view),
    unfoldAll: () => unfoldAll(view),
    destroy: () => view.destroy(),
  };
}

interface ShownText {
  readonly text: string;
  readonly label: string;
  /** Whether to format the text if it is JSON. */
  readonly formats: boolean;
  readonly onField: (field: JsonField | undefined) => void;
}

export interface MountedText {
  /** Why the text is shown unformatted. Undefined if it is formatted. */
  readonly fault: JsonFault | undefined;
  readonly canFold: boolean;
  readonly foldAll: () => void;
  readonly unfoldAll: () => void;
  readonly destroy: () => void;
}

/**
 * Characters of a line above which its end is collapsed. A browser takes a second to draw a line of
 * megabytes.
 */
const MAX_LINE_LENGTH = 10_000;

/** Collapses the ends of very long lines. A click on the placeholder, or Enter in the line, shows them. */
function withShortLines(state: EditorState): EditorState {
  const effects = [];
  let at = 0;
  for (const line of state.doc.iterLines()) {
    if (line.length > MAX_LINE_LENGTH)
      effects.push(foldEffect.of({ from: at + MAX_LINE_LENGTH, to: at + line.length }));
    at += line.length + 1;
  }
  return state.update({ effects }).state;
}

const folding = [
  codeFolding({
    preparePlaceholder: ({ doc }, { from, to }) =>
      doc.lineAt(from).to === to ? `… ${(to - from).toLocaleString('en')} more characters. Show all` : '…',
    placeholderDOM(_view, onClick, text: string) {
      const placeholder = document.createElement('span');
      placeholder.className = 'cm-foldPlaceholder';
      placeholder.textContent = text;
      placeholder.onclick = onClick;
      return placeholder;
    },
  }),
  Prec.high(keymap.of([{ key: 'Enter', run: toggleFold }])),
];

/** Collapses all values below the first level, so that the keys of the first level are in view. */
function foldAll(view: EditorView): void {
  const { state } = view;
  const effects = [];
  for (let number = 2; number <= state.doc.lines; number += 1) {
    const line = state.doc.line(number);
    const range = foldable(state, line.from, line.to);
    if (range === null) continue;
    effects.push(foldEffect.of(range));
    number = state.doc.lineAt(range.to).number;
  }
  view.dispatch({ effects });
}

const chosen = Decoration.mark({ class: 'chosen' });

/** Highlights the value that the user has selected with the keyboard, a click or a tap. */
function chosenField(onField: (field: JsonField | undefined) => void) {
  const field = StateField.define<JsonField | undefined>({
    create: () => undefined,
    update: (before, { selection, state }) => (selection === undefined ? before : fieldAtCursor(state)),
    provide: (self) =>
      EditorView.decorations.from(self, (found) =>
        found === undefined ? Decoration.none : Decoration.set(chosen.range(found.from, found.to)),
      ),
  });
  return [
    field,
    EditorView.updateListener.of(({ selectionSet, state }) => {
      if (selectionSet) onField(state.field(field));
    }),
    EditorView.domEventHandlers({
      // In read-only text, a tap does not move the cursor.
      click(event, view) {
        const anchor = view.posAtCoords(event);
        if (anchor !== null && view.state.selection.main.empty) view.dispatch({ selection: { anchor } });
      },
    }),
  ];
}

const theme = EditorView.theme({
  '.cm-content': { padding: '0', flexBasis: '0', minWidth: '0' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 1ch 0 calc(8px + 1ch)', minWidth: '0' },
  '.cm-foldGutter .cm-gutterElement': { width: '2ch', cursor: 'pointer', textAlign: 'center' },
  '.cm-foldPlaceholder': { border: '0', padding: '0 4px', background: 'var(--line)', color: 'var(--text)' },
  '.chosen': { borderRadius: '3px', background: 'var(--accent-soft)' },
});
