import { readFileSync } from 'node:fs';
import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { hookctlGroup, UNKNOWN_OPTION } from './terminal/command.ts';
import { systemErrorText, USAGE_ERROR, UsageError } from './terminal/command-error.ts';
import { enterProject } from './terminal/files.ts';
import { endWithClosedPipe } from './terminal/terminal.ts';

/** Errors with a message for the user. Only the message is printed. */
const EXPECTED = new Set(['CommandError', 'UsageError', 'SynthesisError', 'TargetError']);

/** All commands, by who needs them. Each has a file in `commands/` that exports it as `command`. */
export const COMMAND_GROUPS = {
  'Run the stack on this machine': ['start', 'send', 'invoke', 'fault', 'acceptance'],
  'Look at a stage': ['trace', 'console'],
  'Operate a stage': ['doctor', 'secret', 'dlq', 'archive', 'replay', 'pause', 'resume'],
  'Help the partner': ['check-sender', 'partner-kit'],
  'Measure the receiver': ['bench'],
  'Change this project': ['new-event', 'generate', 'check', 'test', 'soak'],
} as const;

const GROUPS = Object.entries<readonly string[]>(COMMAND_GROUPS);

const NAMES = GROUPS.flatMap(([, names]) => names);

/** @returns commands in the order of the help */
async function loadCommands(names: readonly string[] = NAMES): Promise<CommandUnknownOpts[]> {
  return Promise.all(
    names.map(async (name) => {
      const { command } = (await import(`./commands/${name}.ts`)) as { command: CommandUnknownOpts };
      return command.helpGroup(`${GROUPS.find(([, group]) => group.includes(name))?.[0]}:`);
    }),
  );
}

/**
 * `hookctl`, with one command if `args` begin with its name: to load the other commands would take most of the start.
 * Otherwise, for example for `--help`, with all commands.
 */
export async function hookctl([name = '']: readonly string[]): Promise<CommandUnknownOpts> {
  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  const program = hookctlGroup('hookctl', 'Runs, inspects and operates the webhook receiver.')
    .version(version, '-V, --version', 'print the version')
    .usage('<command> [options]')
    .configureHelp({ subcommandTerm: (command) => command.name(), subcommandDescription: firstSentence })
    .addHelpText('after', '\nhookctl <command> --help shows the arguments and options of a command.');
  for (const command of await loadCommands(NAMES.includes(name) ? [name] : NAMES))
    program.addCommand(command);
  return program;
}

const firstSentence = (command: CommandUnknownOpts) => command.description().replace(/\.(\s.*)?$/s, '');

/** Runs one command line: the words after `hookctl`. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    enterProject();
    endWithClosedPipe();
    const program = await hookctl(args);
    refuseSwallowedOptions(program.commands, args.slice(1));
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    const isUnknown = error instanceof CommanderError && error.code === UNKNOWN_OPTION;
    const message = isUnknown ? await ownersOf(error) : await messageOf(error);
    if (message !== '') console.error(message);
    process.exit(isUnknown || error instanceof UsageError ? USAGE_ERROR : 1);
  }
}

/** Names the commands that have an option that was typed after another command. Empty if none has. */
async function ownersOf({ message }: CommanderError): Promise<string> {
  const [, option] = /unknown option '([^'=]+)/.exec(message) ?? [];
  const hasOption = (command: CommandUnknownOpts) => command.options.some(({ long }) => long === option);
  const owners = (await loadCommands()).flatMap((command) => [
    ...(hasOption(command) ? [command.name()] : []),
    ...command.commands.filter(hasOption).map((one) => `${command.name()} ${one.name()}`),
  ]);
  return owners.length === 0 ? '' : `${option} is an option of ${owners.join(', ')}`;
}

/** Options of Jest that people use with `npm test`, whose script accepts all options. */
const JEST_OPTIONS = [
  ...'-t --testNamePattern -i --runInBand --maxWorkers --watch --watchAll --verbose'.split(' '),
  ...'-u --updateSnapshot --coverage --bail --randomize --seed --selectProjects'.split(' '),
];

/**
 * npm takes options before `--` for itself, and runs the script without them. The script sees them only as variables
 * such as `npm_config_retry_fast`, which is empty for `--no-retry-fast`. They are in lower case.
 * @param args that npm passed to the script
 * @throws UsageError if npm took an option of the command whose script it runs
 */
function refuseSwallowedOptions(commands: readonly CommandUnknownOpts[], args: readonly string[]): void {
  const script = process.env.npm_lifecycle_event ?? '';
  const command = commands.find((one) => one.name() === script);
  if (command === undefined) return;
  const options = command.options.map(({ long }) => long ?? '').concat(script === 'test' ? JEST_OPTIONS : []);
  const swallowed = options.flatMap((option) => {
    const name = option.replace(/^--?(no-)?/, '').replaceAll('-', '_');
    const value = process.env[`npm_config_${name.toLowerCase()}`];
    if (value === undefined) return [];
    // A secret is not printed.
    const shown = option === '--secret' ? '…' : value;
    return ['true', 'false', ''].includes(value) ? option : `${option} ${shown}`;
  });
  if (swallowed.length === 0) return;
  const npm = script === 'start' || script === 'test' ? `npm ${script}` : `npm run ${script}`;
  const typed = [...swallowed, ...args].join(' ');
  throw new UsageError(
    `npm took ${swallowed.join(' and ')} for itself. Type -- before your options: ${npm} -- ${typed}\nOr type: npx hookctl ${script} ${typed}`,
  );
}

/** What to print for an error. Only the message, if the error is expected. */
export async function messageOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error)) return error;
  if (EXPECTED.has(error.name)) return error.message;
  const text = systemErrorText(error);
  if (text !== undefined) return text;
  const { code } = error as NodeJS.ErrnoException;
  // The stack begins with the file, the line and the source. The calls are those of Node.js' parser.
  if (code === 'ERR_INVALID_TYPESCRIPT_SYNTAX') return error.stack?.split('\n    at ')[0];
  if (code === 'ERR_MODULE_NOT_FOUND') {
    const { incompleteEvents } = await import('./generate/event-index.ts');
    const lines = incompleteEvents();
    if (lines.length > 0) return lines.join('\n');
  }
  return error;
}
