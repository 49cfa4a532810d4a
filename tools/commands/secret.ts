import { buffer } from 'node:stream/consumers';
import { onStage, runOperation } from '../stage/operation.ts';
import { hookctlGroup } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';

export const command = hookctlGroup(
  'secret',
  'Shows how old both versions of the secret are, and until when each is accepted. Stores a new one.',
).usage('[set | back] [options]');

onStage(command.command('show', { isDefault: true }))
  .description('Shows the age of both versions, and until when they are accepted. Never a value')
  .action((where) =>
    runOperation(where, async (operation) => {
      const { showSecret } = await import('../stage/secret-versions.ts');
      return showSecret(operation);
    }),
  );

onStage(command.command('set'))
  .description('Stores a new secret from standard input. The one before is accepted for some time')
  .option('--anyway', 'also if it looks like a mistake, or removes a version that is still accepted')
  .action(({ anyway = false, ...where }) => {
    // A secret that is typed is on the screen, and one in an argument is in the history of the shell.
    if (process.stdin.isTTY) {
      throw new UsageError('Give it on standard input: openssl rand -hex 32 | npx hookctl secret set');
    }
    return runOperation(where, async (operation) => {
      const { setSecret } = await import('../stage/secret-versions.ts');
      return setSecret(operation, (await buffer(process.stdin)).toString(), anyway);
    });
  });

onStage(command.command('back'))
  .description('Makes the previous secret current again. Both are accepted for some time')
  .action((where) =>
    runOperation(where, async (operation) => {
      const { restorePrevious } = await import('../stage/secret-versions.ts');
      return restorePrevious(operation);
    }),
  );
