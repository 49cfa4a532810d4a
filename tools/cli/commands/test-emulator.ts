import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';

/** See `docs/emulator.md`. */
export const command = npmScript(
  'test:emulator',
  'Deploys dev and prod to an emulator of AWS, runs the acceptance suite on each, and has a bad deployment rolled back. It needs Python 3.10 or later and openssl, no Docker, and takes some minutes.',
).action(async () => {
  const { checkOnEmulator } = await import('../../../test/emulator/check-emulator.ts');
  await checkOnEmulator().catch((error: Error) => {
    throw new CommandError(error.message);
  });
});
