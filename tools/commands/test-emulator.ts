import { hookctlCommand } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';

/** Command that deploys to an emulator: see `tools/test/emulator/README.md`. */
export const command = hookctlCommand(
  'test-emulator',
  'Deploys to an AWS emulator, and runs the acceptance suite. It needs Python 3.11 to 3.13 and openssl, and takes minutes.',
).action(async () => {
  const { checkOnEmulator } = await import('../test/emulator/check-emulator.ts');
  await checkOnEmulator().catch((error: Error) => {
    throw new CommandError(error.message);
  });
});
