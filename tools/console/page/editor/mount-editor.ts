import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { linter } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { codeTheme } from '../text/code-theme.ts';
import { jsonFault } from '../text/format-json.ts';

/**
 * An editor (CodeMirror) in a shadow root. The page's Content-Security-Policy forbids `style` elements, but
 * in a shadow root CodeMirror uses constructed stylesheets. Tab is not bound, so it leaves the editor (WCAG
 * 2.1.2).
 */
export function mountEditor(host: HTMLElement, { text, label, onChange }: EditorOptions): MountedEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightSpecialChars(),
        json(),
        linter(({ state }) => faultsOf(state.doc.toString()), { delay: 300 }),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, autocapitalize: 'off' }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) onChange(state.doc.toString());
        }),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        codeTheme,
        theme,
      ],
    }),
  });
  view.focus();
  return {
    set: (changed) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: changed } }),
    destroy: () => view.destroy(),
  };
}

interface EditorOptions {
  text: string;
  label: string;
  onChange: (text: string) => void;
}

export interface MountedEditor {
  readonly set: (text: string) => void;
  readonly destroy: () => void;
}

function faultsOf(text: string) {
  const fault = jsonFault(text);
  if (fault === undefined) return [];
  const { offset, problem } = fault;
  const from = Math.min(offset, text.length);
  return [{ from, to: Math.min(from + 1, text.length), severity: 'error' as const, message: problem }];
}

const theme = EditorView.theme({
  '&': { height: '100%' },
  // CodeMirror's default underline is an image in a data URL, which the Content-Security-Policy forbids.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    background: 'var(--ground-raised)',
    color: 'var(--text)',
    font: '13px / 20px var(--sans)',
  },
});
