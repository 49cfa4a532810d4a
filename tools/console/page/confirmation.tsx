import { signal } from '@preact/signals';
import { shellWord } from '../../terminal/text.ts';
import type { Command } from './command.ts';
import { stack } from './store.ts';
import { Button, Copy } from './ui/button.tsx';
import { Dialog } from './ui/dialog.tsx';

interface Confirm {
  readonly commands: readonly Command[];
  readonly answer: (confirmed: boolean) => void;
}

const question = signal<Confirm | undefined>(undefined);

/** Dialog before a command changes a stage. It shows the same command as typed in a terminal. */
export function Confirmation() {
  if (question.value === undefined) return null;
  const { commands, answer } = question.value;
  return (
    <Dialog
      title={`Change ${stack.title}?`}
      onClose={() => answer(false)}
      actions={
        <>
          <Button onClick={() => answer(false)}>Cancel</Button>
          <Button kind="primary" onClick={() => answer(true)}>
            {commands.length > 1 ? `Run ${commands.length} commands` : 'Run this command'}
          </Button>
        </>
      }
    >
      {[...new Set(commands.map(({ does }) => does))].map((does) => (
        <p key={does}>{does}</p>
      ))}
      <p class="soft">The same in a terminal:</p>
      {commands.map(({ argv }) => {
        const text = `npx hookctl ${argv.map(shellWord).join(' ')}${stack.commandSuffix}`;
        return (
          <div key={text} class="row">
            <code class="command grow">{text}</code>
            <Copy text={text} label="Copy the command" />
          </div>
        );
      })}
    </Dialog>
  );
}

/** Asks before a stage is changed. The dialog is modal, so there is one question at a time. */
export const confirmed = (commands: readonly Command[]): Promise<boolean> =>
  new Promise((resolve) => {
    const answer = (isConfirmed: boolean) => {
      question.value = undefined;
      resolve(isConfirmed);
    };
    question.value = { commands, answer };
  });
