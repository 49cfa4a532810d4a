import { type Argument, type CommandUnknownOpts, Help } from '@commander-js/extra-typings';
import { lines } from '../terminal/layout.ts';
import { markdownTable } from './markdown-tables.ts';

/** Maximum characters of a line. */
const WIDTH = 120;

const INTRODUCTION = `# Commands

Type \`npx hookctl <command>\` in the project, after \`npm ci\`: elsewhere, npx looks for a package of that name.
**\`npx hookctl <command> --help\` explains its options, and shows examples.** The exit code is 1 for a failure, and 2
for a wrong command line.

\`npm start\` and \`npm test\` are \`npx hookctl start\` and \`npx hookctl test\`. With options, type \`npx hookctl\`:
npm takes options for itself.

Commands for a stage have \`--stage <stage>\` or \`--outputs <file>\`, which \`cdk deploy --outputs-file\` wrote. Without
them, they work on the local stack. \`--endpoint <url>\` names an AWS endpoint of your own. Most of them have \`--json\`,
for programs. Below, only other options are named.`;

/** Options that the document does not name again for each command, because most commands have them. */
const OF_MOST = new Set(['--stage', '--outputs', '--endpoint', '--json']);

const FOOTER = 'Generated from the commands: `npm run generate`.';

/**
 * The text of `docs/commands.md`. It names arguments and options; the help of a command explains them.
 * @param internal commands for people who change this project; the document shows only their names
 */
export function commandsDocument(
  commands: readonly CommandUnknownOpts[],
  internal: readonly CommandUnknownOpts[],
): string {
  const rows = commands.flatMap((command) =>
    command.commands.length === 0
      ? [rowOf(command, command.name())]
      : command.commands.map((subcommand) => rowOf(subcommand, `${command.name()} ${subcommand.name()}`)),
  );
  const table = markdownTable(['Command', 'Purpose', 'Arguments and options'], rows);
  const names = internal.map((command) => `\`${command.name()}\``).join(', ');
  const forChanges = lines(
    `For changes of this project: ${names}. See [contributing](../CONTRIBUTING.md).`,
    WIDTH,
  );
  return `${[INTRODUCTION, table, forChanges.join('\n'), FOOTER].join('\n\n')}\n`;
}

function rowOf(command: CommandUnknownOpts, name: string): string[] {
  const names = [
    ...new Help().visibleArguments(command).map(usageOf),
    ...command.options.map(({ long, flags }) => long ?? flags).filter((option) => !OF_MOST.has(option)),
  ];
  const inCode = (text: string) => `\`${text}\``;
  const purpose = marked(command.description().replace(/\.?$/, '.'));
  return [inCode(name), purpose, names.map(inCode).join(', ') || '–'];
}

/** An argument as in the usage of a command: `<queue>`, or `[events...]` if it is optional and repeatable. */
function usageOf(argument: Argument): string {
  const word = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${word}>` : `[${word}]`;
}

/** The text in Markdown, with commands, options and placeholders as code. */
const marked = (text: string) =>
  text.replaceAll(/npm (start|test|run [\w-]+)|npx hookctl [\w-]+|(cdk deploy )?--[a-z-]+|<\w+>/g, '`$&`');
