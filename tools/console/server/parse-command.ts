import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import * as z from 'zod/mini';
import type { RunOperation } from '../../stage/operation.ts';
import { inOneLine } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { STANDARD_INPUT } from '../../terminal/files.ts';
import { printable, shellWord } from '../../terminal/text.ts';
import type { CommandRequest } from '../api.ts';
import { ApiProblem } from './api-problem.ts';
import type { ConsoleContext } from './console-context.ts';

export interface ParsedCommand {
  /** The command as typed in a terminal. */
  readonly command: string;
  /** What only one running command may change: `the messages of shop.updated`. */
  readonly subject: string | undefined;
  readonly run: Parameters<RunOperation>[1];
}

export const commandSchema = z.strictObject({
  argv: z.array(z.string()).check(z.minLength(1)),
  input: z.optional(z.string()),
});

/**
 * Maximum characters of a command line: about 3,000 message ids. The same as for one argument in Linux
 * (MAX_ARG_STRLEN).
 */
const MAX_COMMAND_LENGTH = 128 * 1024;

/** Maximum characters of a command line that the page shows. */
const SHOWN_LENGTH = 2_000;

/**
 * The commands that the page may run, and their options. Others select another stack, read files, or need a
 * terminal. `changes`, with the first argument, is what only one running command may change.
 */
const ALLOWED: Readonly<Record<string, { readonly options: readonly string[]; readonly changes?: string }>> =
  {
    send: { options: ['--again', '--file'] },
    'dlq redrive': { options: ['--id', '--rate'], changes: 'the messages of' },
    'dlq discard': { options: ['--id', '--reason', '--no-export'], changes: 'the messages of' },
    pause: { options: ['--reason'], changes: 'the event source of' },
    resume: { options: [], changes: 'the event source of' },
    fault: { options: ['--share', '--delay'], changes: 'the faults of' },
  };

export const messagesOf = (queue: string) => `the messages of ${queue}`;

const badRequest = (detail: string) => new ApiProblem(400, detail);

/**
 * Parses a command line with the command's own parser. The parser's action stores the task instead of running
 * it.
 * @throws ApiProblem if the console does not allow the command, or an argument is wrong
 */
export async function parseCommand(
  { argv, input }: CommandRequest,
  { source: { stage }, local, commands }: Pick<ConsoleContext, 'source' | 'local' | 'commands'>,
): Promise<ParsedCommand> {
  const [script = '', ...words] = argv;
  if (argv.join(' ').length > MAX_COMMAND_LENGTH) {
    throw badRequest(`The command is longer than ${MAX_COMMAND_LENGTH} characters. Name fewer ids`);
  }
  // Before the parser, whose error for an unknown subcommand would name commands that the console does not run.
  const isAllowed = [script, `${script} ${words[0]}`].some((name) => Object.hasOwn(ALLOWED, name));
  if (!isAllowed || !isKnown(commands, script)) throw notAllowed();
  if (script === 'fault' && local === undefined) throw badRequest('Only the local stack has faults');
  let run: ParsedCommand['run'] | undefined;
  let subject: string | undefined;
  const command = commands[script](async (_where, task) => {
    run = task;
  });
  const silent = () => {};
  for (const one of [command, ...command.commands]) {
    one.exitOverride().helpOption(false);
    one.configureOutput({ writeOut: silent, writeErr: silent, outputError: silent });
  }
  command.hook('preAction', (_root, leaf) => {
    const { options, changes } = ALLOWED[leaf === command ? script : `${script} ${leaf.name()}`] ?? {};
    if (options === undefined) throw notAllowed();
    refuseOptions(leaf, options);
    if (changes !== undefined) subject = `${changes} ${leaf.processedArgs[0]}`;
    const { file } = leaf.opts();
    if (file === undefined) return;
    if (local === undefined) {
      throw new ApiProblem(403, 'Your own text can only be sent to the local stack, and not to a stage');
    }
    if (file !== STANDARD_INPUT || input === undefined) throw badRequest('--file must be -, with input');
  });
  try {
    await command.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) throw badRequest(inOneLine(error.message));
    throw error instanceof CommandError ? badRequest(error.message) : error;
  }
  if (run === undefined) throw notAllowed();
  const line = printable(stage.command(words.map(shellWord).join(' '), script));
  const isLong = line.length > SHOWN_LENGTH;
  return { command: isLong ? `${line.slice(0, SHOWN_LENGTH)} …` : line, subject, run };
}

const isKnown = (commands: ConsoleContext['commands'], name: string): name is keyof typeof commands =>
  Object.hasOwn(commands, name);

const notAllowed = () =>
  badRequest(`The console does not run this command. It runs: ${Object.keys(ALLOWED).join(', ')}`);

/** @throws ApiProblem if the console does not allow one of the options */
function refuseOptions(command: CommandUnknownOpts, allowed: readonly string[]): void {
  for (const option of command.options) {
    if (allowed.includes(option.long ?? '')) continue;
    const name = option.attributeName();
    const source = command.getOptionValueSource(name);
    // `--export` and `--no-export` share a value.
    const isGiven = option.negate === (command.getOptionValue(name) === false);
    if (source === 'cli' && isGiven) throw badRequest(`The console does not support ${option.long}`);
    // A secret in the environment may be of another stack. The secret of the console's stack is used.
    if (source === 'env') command.setOptionValueWithSource(name, option.defaultValue, 'default');
  }
}
