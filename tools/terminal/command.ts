import { Command } from '@commander-js/extra-typings';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { CommandError } from './command-error.ts';

/**
 * A command for `npm run <script>`. Its file in `tools/commands/` exports it as `command`. Wrong arguments print
 * one line and exit with code 1.
 *
 * Its action imports its dependencies late: the AWS clients alone would make `--help` three times as slow.
 * @param script name in package.json; `npm start` and `npm test` need no `run`
 */
export function npmScript(script: string, description: string): Command {
  const typed = script === 'start' || script === 'test' ? `npm ${script} --` : `npm run ${script} --`;
  return new Command(typed)
    .description(description)
    .helpOption('-h, --help', 'show this help')
    .configureOutput({ outputError: (text, write) => write(`${inOneLine(text)}\n`) });
}

/** A command with subcommands. Without a subcommand, it lists them. */
export function npmScriptWithSubcommands(script: string, description: string): Command {
  const command = npmScript(script, description);
  // Without these, commander would report the options and arguments of an unknown subcommand instead of the subcommand.
  command.argument('[subcommand]').allowUnknownOption().allowExcessArguments();
  command.action(() => {
    const [subcommand] = command.args;
    if (subcommand?.startsWith('-')) command.error(`error: unknown option '${subcommand}'`);
    const names = command.commands.map((known) => known.name());
    const choice = names.join(', ');
    throw new CommandError(
      subcommand === undefined
        ? `Choose a subcommand: ${choice}`
        : `No subcommand '${subcommand}'.${didYouMean(subcommand, names)} One of: ${choice}`,
    );
  });
  return command;
}

/** commander writes the error, and a suggestion on the line below it. */
export function inOneLine(text: string): string {
  const line = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll('\n', ' ');
  return line.charAt(0).toUpperCase() + line.slice(1);
}
