import { type Argument, type CommandUnknownOpts, Help } from '@commander-js/extra-typings';
import { lines } from '../terminal/layout.ts';

/** Maximum characters of a line. */
const WIDTH = 120;

const INTRODUCTION = `# Commands

Type \`npx hookctl <command>\` in the project, after \`npm ci\`: elsewhere, npx looks for a package of that name.
\`--help\` explains each command. The exit code is 1 for a failure, and 2 for a wrong command line.

\`npm start\` and \`npm test\` are \`npx hookctl start\` and \`npx hookctl test\`. With options, type \`npx hookctl\`:
npm takes options for itself.

For completion with the Tab key, run this once in each shell. zsh and fish have \`complete zsh\` and
\`complete fish\`. bash needs the package bash-completion.

\`\`\`bash
export PATH="$PWD/node_modules/.bin:$PATH"
source <(hookctl complete bash)
\`\`\`

## Common arguments and options

Commands for a stage have \`--stage\` and \`--outputs\`, most of them also \`--json\`. Below, only the others are named.`;

/** Options that the document does not name again for each command, because most commands have them. */
const OF_MOST = new Set(['--stage', '--outputs', '--json']);

const FOOTER = 'Generated from the help of the commands: `npm run generate`.';

/**
 * The text of `docs/commands.md`.
 * @param internal commands for people who change this project; the document shows only their names
 */
export function commandsDocument(
  commands: readonly CommandUnknownOpts[],
  internal: readonly CommandUnknownOpts[],
): string {
  const common = commonItems(commands.flatMap((command) => [command, ...command.commands]));
  const sections = commands.flatMap((command) => sectionOf(command, common));
  const parts = [INTRODUCTION, [...common].join('\n'), ...sections, internalSection(internal), FOOTER];
  return `${parts.join('\n\n')}\n`;
}

function internalSection(commands: readonly CommandUnknownOpts[]): string {
  const names = commands.map((command) => `\`${command.name()}\``).join(', ');
  const text = wrapped(`${names}: see [contributing](../CONTRIBUTING.md).`);
  return `## For changes of this project\n\n${text}`;
}

/** Arguments and options that several commands describe in the same words. */
function commonItems(commands: readonly CommandUnknownOpts[]): Set<string> {
  const items = commands.flatMap(itemsOf).map(({ item }) => item);
  const common = items.filter((item, index) => items.indexOf(item) !== index);
  const isOption = (item: string) => item.startsWith('- `--');
  return new Set([...common.filter((item) => !isOption(item)), ...common.filter(isOption)]);
}

/** The section of a command, with its subcommands. */
function sectionOf(command: CommandUnknownOpts, common: ReadonlySet<string>): string[] {
  return [
    `## ${command.name()}`,
    ...paragraphsOf(command, '', common),
    ...command.commands.flatMap((subcommand) =>
      paragraphsOf(subcommand, `\`${command.name()} ${subcommand.name()}\`: `, common),
    ),
  ];
}

function paragraphsOf(command: CommandUnknownOpts, prefix: string, common: ReadonlySet<string>): string[] {
  const all = itemsOf(command);
  const own = all.filter(({ item }) => !common.has(item)).map(({ item }) => item);
  const others = all
    .filter(({ name, item }) => common.has(item) && !OF_MOST.has(name))
    .map(({ name }) => `\`${name}\``);
  const description = prefix + marked(command.description().replace(/\.?$/, '.'));
  const links = others.length === 0 ? '' : `Common: ${others.join(', ')}`;
  if (own.length === 0) return [wrapped(`${description} ${links}`.trim()), ...textAfterOptions(command)];
  if (links !== '') own.push(wrapped(`- ${links}`));
  return [[wrapped(description), ...own].join('\n'), ...textAfterOptions(command)];
}

/** The arguments and options of a command, each as an item of a list. */
function itemsOf(command: CommandUnknownOpts): { name: string; item: string }[] {
  const help = new Help();
  const itemOf = (name: string, term: string, description: string) => ({
    name,
    item: wrapped(`- \`${term}\`: ${marked(description)}`),
  });
  return [
    ...help.visibleArguments(command).map((argument) => {
      const term = usageOf(argument);
      return itemOf(term, term, help.argumentDescription(argument));
    }),
    ...command.options.map((option) =>
      itemOf(option.long ?? option.flags, option.flags, help.optionDescription(option)),
    ),
  ];
}

/** An argument as in the usage of a command: `<queue>`, or `[events...]` if it is optional and repeatable. */
function usageOf(argument: Argument): string {
  const word = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${word}>` : `[${word}]`;
}

/** The text in Markdown, with commands, options and placeholders as code. */
const marked = (text: string) =>
  text.replaceAll(/npm (start|test|run [\w-]+)|npx hookctl [\w-]+|(cdk deploy )?--[a-z-]+|<\w+>/g, '`$&`');

/** Further lines of an item of a list are indented. */
function wrapped(text: string): string {
  const [first = '', ...others] = lines(text, WIDTH - 2);
  return [first, ...others.map((line) => (text.startsWith('- ') ? `  ${line}` : line))].join('\n');
}

/** The text that a command's help has after its options, in Markdown. Examples become commands to copy. */
function textAfterOptions(command: CommandUnknownOpts): string[] {
  let text = '';
  const writeOut = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut }).outputHelp();
  const [, after = ''] = text.split(command.helpInformation());
  const paragraphs = after.trim().split('\n\n');
  return paragraphs.filter(Boolean).map((paragraph) => {
    const [first = '', ...others] = paragraph.split('\n');
    if (first !== 'Examples:') return paragraph;
    return ['```bash', ...others.map((line) => line.trimStart()), '```'].join('\n');
  });
}
