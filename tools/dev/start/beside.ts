import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { LocalStack } from '../../../local/local-stack.ts';
import { readCloudAssembly } from '../../../local/template/cloud-assembly.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';

/** Collects folders of stacks that run beside ours. @throws InvalidArgumentError, which becomes the command's one line */
export function besideFolder(folder: string, before: readonly string[] = []): readonly string[] {
  try {
    readCloudAssembly(folder);
  } catch {
    throw new InvalidArgumentError('It must be the folder of one synthesised stack: cdk synth -o <folder>.');
  }
  return [...before, folder];
}

/**
 * Runs them; what they write is said as it is.
 * @returns where everything is of them
 * @throws CommandError where one has what cannot be run here
 */
export async function runAllBeside(
  stack: Pick<LocalStack, 'runBeside'>,
  folders: readonly string[],
  say: (text: string) => void,
): Promise<string[]> {
  const texts: string[] = [];
  for (const folder of folders) {
    const { name, outputs } = await stack
      .runBeside(folder, ({ functionName, text }) => say(`${functionName}: ${text}`))
      .catch((error: Error) => {
        throw new CommandError(`${folder} cannot be run beside the stack: ${error.message}`);
      });
    const lines = Object.entries(outputs).map(([output, value]) => `  ${output}: ${value}\n`);
    texts.push(`Beside it runs ${name}:\n\n${lines.join('')}`);
  }
  return texts;
}
