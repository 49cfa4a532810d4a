import { Command } from '@commander-js/extra-typings';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { USAGE_ERROR, UsageError } from './command-error.ts';

/** Code of commander's error for an option that a command does not have. */
export const UNKNOWN_OPTION = 'commander.unknownOption';

/**
 * Makes a command of `hookctl`. The command's file in `tools/commands/` has the name of the command, and exports it as
 * `command`. Wrong arguments print one line and exit with {@link USAGE_ERROR}. The command's action imports modules
 * only when it runs: the AWS clients alone would make `--help` three times as slow.
 * @example export const command = hookctlCommand('trace', 'Shows a delivery.').argument('<id>').action(run);
 */
export function hookctlCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .helpOption('-h, --help', 'show this help')
    .configureOutput({ outputError: (text, write) => write(`${inOneLine(text)}\n`) })
    .exitOverride((error) => {
      // `program.ts` names the commands that have it.
      if (error.code === UNKNOWN_OPTION) throw error;
      process.exit(error.exitCode === 0 ? 0 : USAGE_ERROR);
    });
}

/** Makes a command with subcommands. Without a subcommand, the command shows its help. */
export function hookctlGroup(name: string, description: string): Command {
  const command = hookctlCommand(name, description).helpCommand(false);
  command.on('command:*', ([subcommand = '']: readonly string[]) => {
    const names = command.commands.map((known) => known.name());
    throw new UsageError(
      `No command '${subcommand}'.${didYouMean(subcommand, names)} One of: ${names.join(', ')}`,
    );
  });
  return command;
}

/** Joins an error of commander and its suggestion, which are two lines. Repeats no argument that is not expected. */
export function inOneLine(text: string): string {
  const line = text
    .trim()
    .replace(/^error: /, '')
    // An argument too many may be a secret.
    .replace(/(Expected \d+ arguments? but got \d+): .*$/s, '$1.')
    .replaceAll('\n', ' ');
  return line.charAt(0).toUpperCase() + line.slice(1);
}
