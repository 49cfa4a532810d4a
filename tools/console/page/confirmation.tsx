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
  const many = commands.length > 1;
  const texts = commands.map(({ argv }) => commandText(argv));
  return (
    <Dialog
      title={`Change ${stack.title}?`}
      onClose={() => answer(false)}
      width={many ? 'wide' : 'narrow'}
      actions={
        <>
          <Button onClick={() => answer(false)}>Cancel</Button>
          <Button kind="primary" onClick={() => answer(true)}>
            {many ? `Run ${commands.length} commands` : 'Run this command'}
          </Button>
        </>
      }
    >
      <div class="stack">
        {[...new Set(commands.map(({ does }) => does))].map((does) => (
          <p key={does}>{does}</p>
        ))}
        <p class="soft">{many ? 'The same in a terminal, one by one:' : 'The same in a terminal:'}</p>
        <ul class="stack">
          {texts.map((text) => (
            <li key={text} class="row">
              <code class="command grow">{text}</code>
              <Copy text={text} label="Copy the command" />
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}

const commandText = ([script, ...words]: readonly string[]) =>
  `npx hookctl ${script} ${words.map(shellWord).join(' ')}${stack.commandSuffix}`;

export async function confirmed(commands: readonly Command[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  question.value?.answer(false);
  question.value = { commands, answer: resolve };
  const answer = await promise;
  if (question.value?.answer === resolve) question.value = undefined;
  return answer;
}
