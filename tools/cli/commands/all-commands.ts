import { readFileSync } from 'node:fs';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** Every command, by the name of its script in package.json. */
export async function allCommands(): Promise<ReadonlyMap<string, CommandUnknownOpts>> {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
  const commands = new Map<string, CommandUnknownOpts>();
  for (const script of Object.keys(scripts)) {
    const { command }: { command: CommandUnknownOpts } = await import(`./${script.replace(':', '-')}.ts`);
    commands.set(script, command);
  }
  return commands;
}
