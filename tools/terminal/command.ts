import { Command, InvalidArgumentError } from '@commander-js/extra-typings';

/**
 * A command as `npm run <script>` types it; its file in `tools/commands/` exports it as `command`. Whatever is
 * wrong with its arguments ends it with one line and exit code 1.
 * @param script name in package.json; `npm start` and `npm test` need no `run`
 */
export function npmScript(script: string, description: string): Command {
  const typed = script === 'start' || script === 'test' ? `npm ${script} --` : `npm run ${script} --`;
  return new Command(typed)
    .description(description)
    .helpOption('-h, --help', 'this text')
    .allowExcessArguments(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(`${inOneLine(text)}\n`) });
}

/** commander writes what is wrong, and below it what may have been meant. */
function inOneLine(text: string): string {
  const line = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll('\n', ' ');
  return line.charAt(0).toUpperCase() + line.slice(1);
}

/**
 * Reads an option's value, as commander wants it.
 * @throws InvalidArgumentError where it is no whole number of that range
 */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER) {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`;
  return (text: string): number => {
    const value = Number(text);
    if (/^(0|[1-9]\d*)$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}
