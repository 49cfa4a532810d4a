import type { Confirmation } from '../../api.ts';
import { Button } from '../shared/button.tsx';
import { Copy } from '../shared/copy.tsx';
import { Dialog } from '../shared/dialog.tsx';

interface ConfirmDialogProps {
  confirmations: readonly Confirmation[];
  answer: (confirmed: boolean) => void;
  /** Of the stack. */
  title: string;
}

/** Asks before anything is changed in a deployed stage, and shows the commands that would do the same. */
export function ConfirmDialog({ confirmations, answer, title }: ConfirmDialogProps) {
  const explanations = [...new Set(confirmations.map(({ explanation }) => explanation))];
  const many = confirmations.length > 1;
  return (
    <Dialog
      title={`Change ${title}?`}
      onClose={() => answer(false)}
      width={many ? 'wide' : 'narrow'}
      actions={
        <>
          <Button onClick={() => answer(false)}>Cancel</Button>
          <Button kind="primary" onClick={() => answer(true)}>
            {many ? `Run ${confirmations.length} commands` : 'Run this command'}
          </Button>
        </>
      }
    >
      <div class="stack">
        {explanations.map((explanation) => (
          <p key={explanation}>{explanation}</p>
        ))}
        <p class="soft">{many ? 'The same in a terminal, one by one:' : 'The same in a terminal:'}</p>
        <ul class="stack-tight">
          {confirmations.map(({ command }) => (
            <li key={command} class="command-line">
              <code class="command">{command}</code>
              <Copy text={command} label="Copy the command" />
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}
