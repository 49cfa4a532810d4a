import { onStage, runOperation } from '../stage/operation.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { jsonOption } from '../terminal/options.ts';

export const command = onStage(
  hookctlCommand(
    'doctor',
    'Checks a stage: what is wrong, why it matters, what fixes it. It only reads. Exit code 1 if a check fails.',
  ),
)
  .addOption(jsonOption())
  .action(({ json = false, ...where }) =>
    runOperation(where, async (operation) => {
      const { doctor } = await import('../stage/doctor/doctor.ts');
      return doctor(operation, { json });
    }),
  );
