import { standardKeymap } from '@codemirror/commands';
import { EditorState } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view';
import { codeTheme } from './code-theme.ts';
import { NAMED, nameOfRun } from './visible.tsx';

const decorated = (decorator: MatchDecorator) =>
  ViewPlugin.define(
    (view) => ({
      found: decorator.createDeco(view),
      update(update: ViewUpdate) {
        this.found = decorator.updateDeco(update, this.found);
      },
    }),
    { decorations: ({ found }) => found },
  );

/**
 * Isolates right-to-left text within its string, so that it does not move punctuation outside. Source:
 * Unicode's Bidi_Class R and AL.
 */
const isolatedText = decorated(
  new MatchDecorator({
    regexp: /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}][^"\n]*/gu,
    decoration: Decoration.mark({ tagName: 'bdi', bidiIsolate: null }),
  }),
);

const invisibleCharacters = decorated(
  new MatchDecorator({
    regexp: NAMED,
    decorate: (add, from, to, [run, emoji]) => {
      if (emoji === undefined) add(from, to, Decoration.replace({ widget: new NameWidget(nameOfRun(run)) }));
    },
  }),
);

class NameWidget extends WidgetType {
  readonly #name: string;

  constructor(name: string) {
    super();
    this.#name = name;
  }

  override eq(other: NameWidget): boolean {
    return other.#name === this.#name;
  }

  toDOM(): HTMLElement {
    const element = document.createElement('span');
    element.className = 'invisible';
    element.textContent = this.#name;
    return element;
  }
}

/** Maximum indentation of the continuation of a wrapped line, in columns. */
const MAX_INDENT = 80;

/**
 * Indents wrapped lines by a class for each depth, because the page's Content-Security-Policy forbids style
 * attributes.
 */
const hangingIndent = decorated(
  new MatchDecorator({
    regexp: /^ +/g,
    decorate: (add, from, to, _match, { state }) => {
      if (state.doc.lineAt(from).from !== from) return;
      add(from, from, Decoration.line({ class: `indent-${Math.min(MAX_INDENT, to - from)}` }));
    },
  }),
);

const theme = EditorView.theme({
  // Lines break anywhere, as in a terminal. To find better places in a line of megabytes, Chromium needs seconds.
  '.cm-line': { padding: '0 8px 0 0', wordBreak: 'break-all', overflowWrap: 'normal' },
  '.invisible': {
    padding: '0 3px',
    borderRadius: '3px',
    background: 'var(--warning-soft)',
    color: 'var(--warning)',
    fontSize: '0.85em',
  },
  ...Object.fromEntries(
    Array.from({ length: MAX_INDENT }, (_, index) => [
      `.cm-line.indent-${index + 1}`,
      { textIndent: `-${index + 1}ch`, paddingLeft: `${index + 1}ch` },
    ]),
  ),
});

/**
 * CodeMirror extensions for untrusted text, read-only: nothing in the text is invisible or moves other text.
 */
export const untrustedText = (label: string) => [
  lineNumbers(),
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  // The text is not editable but has a cursor, so that the keyboard can select a value and scroll.
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  EditorView.lineWrapping,
  keymap.of(standardKeymap),
  // Only line feeds end a line, so a carriage return is visible within its line.
  EditorState.lineSeparator.of('\n'),
  EditorState.tabSize.of(2),
  isolatedText,
  EditorView.bidiIsolatedRanges.of((view) => view.plugin(isolatedText)?.found ?? Decoration.none),
  invisibleCharacters,
  hangingIndent,
  theme,
  codeTheme,
];
