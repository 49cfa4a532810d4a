import { signal } from '@preact/signals';
import { shellWord } from '../../terminal/text.ts';
import type { Command } from './command.ts';
import { stack } from './store.ts';
import { Button } from './ui/button.tsx';
import { Copy } from './ui/copy.tsx';
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
  const texts = commands.map(
    ({ argv: [script, ...words] }) =>
      `npx hookctl ${script} ${words.map(shellWord).join(' ')}${stack.commandSuffix}`,
  );
  return (
    <Dialog
      title={`Change ${stack.title}?`}
      onClose={() => answer(false)}
      width="wide"
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
      {texts.map((text) => (
        <div key={text} class="row">
          <code class="command grow">{text}</code>
          <Copy text={text} label="Copy the command" />
        </div>
      ))}
    </Dialog>
  );
}

/** Asks before a stage is changed. A newer question cancels an older one. */
export async function confirmed(commands: readonly Command[]): Promise<boolean> {
  question.value?.answer(false);
  return new Promise((resolve) => {
    const answer = (isConfirmed: boolean) => {
      if (question.value?.answer === answer) question.value = undefined;
      resolve(isConfirmed);
    };
    question.value = { commands, answer };
  });
}
