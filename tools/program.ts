import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { hookctlGroup, UNKNOWN_OPTION } from './terminal/command.ts';
import { systemErrorText, USAGE_ERROR, UsageError } from './terminal/command-error.ts';
import { enterProject } from './terminal/files.ts';
import { swallowedOptions } from './terminal/swallowed-options.ts';

/** Errors with a message for the user. Only the message is printed. */
const EXPECTED = new Set(['CommandError', 'UsageError', 'SynthesisError']);

/** All commands, by who needs them. Each has a file in `commands/` that exports it as `command`. */
export const COMMAND_GROUPS = {
  'Run the stack on this machine': ['start', 'send', 'invoke', 'fault', 'acceptance'],
  'Look at a stage': ['trace', 'console'],
  'Operate a stage': ['doctor', 'secret', 'dlq', 'archive', 'replay', 'pause', 'resume'],
  'Help the partner': ['check-sender', 'partner-kit'],
  'Measure the receiver': ['bench'],
  'Change this project': ['new-event', 'generate', 'check', 'test'],
  'Test this project further': ['test-console', 'test-emulator', 'soak'],
} as const;

const GROUPS = Object.entries<readonly string[]>(COMMAND_GROUPS);

const NAMES = GROUPS.flatMap(([, names]) => names);

/** @returns commands in the order of the help */
export async function loadCommands(names: readonly string[] = NAMES): Promise<CommandUnknownOpts[]> {
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
    .helpCommand(false)
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
    const swallowed = swallowedOptions(program.commands, args.slice(1), process.env);
    if (swallowed !== undefined) throw new UsageError(swallowed);
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
  const owners = (await loadCommands())
    .flatMap((command) => [command, ...command.commands])
    .filter((command) => command.options.some(({ long }) => long === option))
    .map((command) => (command.parent ? `${command.parent.name()} ${command.name()}` : command.name()));
  return owners.length === 0 ? '' : `${option} is an option of ${owners.join(', ')}`;
}

/** What to print for an error. Only the message, if the error is expected. */
async function messageOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error)) return error;
  if (EXPECTED.has(error.name)) return error.message;
  const text = systemErrorText(error) ?? syntaxError(error);
  if (text !== undefined) return text;
  if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') {
    const { incompleteEvents } = await import('./generate/event-index.ts');
    const lines = incompleteEvents();
    if (lines.length > 0) return lines.join('\n');
  }
  return error;
}

/**
 * The error and its position in a file that does not parse, such as a file shared by commands and functions. Node.js
 * puts the position and the source line before the stack.
 * @returns undefined for another error
 */
function syntaxError(error: Error): string | undefined {
  if (!('code' in error) || error.code !== 'ERR_INVALID_TYPESCRIPT_SYNTAX') return undefined;
  const [place = '', ...lines] = (error.stack ?? '').split('\n\n', 1).join().split('\n');
  const [, file = place, line] = /^(file:.*):(\d+)$/.exec(place) ?? [];
  const path = file.startsWith('file:') ? relative('', fileURLToPath(file)) : file;
  return [`${path}:${line}: ${error.message}`, '', ...lines].join('\n');
}

/**
 * Ends a command without an error when its output is no longer read, as with `head -1`. Work that Ctrl-C can interrupt
 * ends as with Ctrl-C.
 */
function endWithClosedPipe(): void {
  let isClosed = false;
  const onError = ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') {
      console.error(`Cannot write the output: ${message}`);
      process.exitCode = 1;
      return;
    }
    // Each further write fails, too.
    if (isClosed) return;
    isClosed = true;
    process.once('exit', () => {
      process.exitCode = 0;
    });
    if (!process.emit('SIGINT')) process.exit();
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
}
