import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import * as z from 'zod/mini';
import type { Operation, RunOperation } from '../../stage/operation.ts';
import { eventOf, waitingQueue } from '../../stage/queues/queue.ts';
import { attributesOf } from '../../stage/queues/received-message.ts';
import { inOneLine } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { STANDARD_INPUT } from '../../terminal/files.ts';
import { printable, shellWord } from '../../terminal/text.ts';
import type { CommandRequest } from '../api.ts';
import { ApiProblem, badRequest } from './api-problem.ts';
import type { ConsoleContext, PageCommands } from './console-context.ts';

export interface RunnableCommand {
  /** The command as typed in a terminal. */
  readonly command: string;
  /** Resource that only one running command may change, such as `the dead-letter queue of shop.updated`. */
  readonly subject: string | undefined;
  readonly run: CommandTask;
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

/** Maximum words of a command line that the page shows. */
const WORDS_SHOWN = 50;

type CommandTask = Parameters<RunOperation>[1];

type CommandContext = Pick<ConsoleContext, 'source' | 'local' | 'queueLocks' | 'commands'>;

interface ParsedCommand {
  readonly args: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly input: string | undefined;
}

interface AllowedCommand {
  readonly subcommands?: readonly string[];
  /**
   * Options that the page may use. All others are rejected, because they select another stack, read files, or
   * need a terminal.
   */
  readonly options: readonly string[];
  /**
   * The resource that the command changes. Undefined if it only reads or sends.
   * @throws ApiProblem or CommandError if the command cannot be run
   */
  readonly subject: (parsed: ParsedCommand, context: CommandContext) => string | undefined;
  /** Wraps the command's task, to give it the console's own data or to observe it. */
  readonly around?: (parsed: ParsedCommand, context: CommandContext, task: CommandTask) => CommandTask;
}

const COMMANDS: Readonly<Record<keyof PageCommands, AllowedCommand>> = {
  send: {
    options: ['--again', '--same-headers', '--file'],
    subject({ options: { file }, input }, { local }) {
      if (file !== undefined && local === undefined) {
        throw new ApiProblem(
          'local-only',
          403,
          'Only on the local stack',
          'Only samples and deliveries of the partner can be sent to a stage. Send your own text to the local stack',
        );
      }
      const readsInput = file === STANDARD_INPUT;
      if (file !== undefined && !readsInput) throw badRequest('--file must be -, which stands for the input');
      if (readsInput !== (input !== undefined))
        throw badRequest('--file - requires input, and input requires --file -');
      return undefined;
    },
  },
  dlq: {
    subcommands: ['redrive', 'discard'],
    options: ['--id', '--shop', '--rate', '--reason', '--no-export'],
    subject: ({ args: [queue] }, { source }) => waitingQueue(source.stage, String(queue)).title,
    around: redriven,
  },
  pause: { options: ['--reason'], subject: eventSource },
  resume: { options: [], subject: eventSource },
  doctor: { options: [], subject: () => undefined },
};

const ALLOWED = Object.entries(COMMANDS).flatMap(([script, { subcommands = [''] }]) =>
  subcommands.map((subcommand) => `${script} ${subcommand}`.trimEnd()),
);

function eventSource({ args: [event] }: ParsedCommand, { source }: CommandContext): string {
  return `the event source of ${eventOf(source.stage, String(event))}`;
}

/**
 * Parses a command line with the command's own parser. The parser's action stores the task instead of running
 * it.
 * @throws ApiProblem if the console does not allow the command, or an argument is wrong
 */
export async function parseCommand(
  { argv, input }: CommandRequest,
  context: CommandContext,
): Promise<RunnableCommand> {
  const [script = '', ...words] = argv;
  const length = argv.reduce((sum, word) => sum + word.length + 1, 0);
  if (length > MAX_COMMAND_LENGTH) {
    throw badRequest(
      `The command is too long: ${length} of ${MAX_COMMAND_LENGTH} characters. Name fewer ids`,
    );
  }
  if (!isAllowed(script)) throw notAllowed();
  const allowed = COMMANDS[script];
  let task: CommandTask | undefined;
  let parsed: ParsedCommand = { args: [], options: {}, input };
  let subject: string | undefined;
  const command = context.commands[script](async (_where, given) => {
    task = given;
  });
  const silent = () => {};
  for (const one of [command, ...command.commands]) {
    one.exitOverride().helpOption(false);
    one.configureOutput({ writeOut: silent, writeErr: silent, outputError: silent });
  }
  command.hook('preAction', (_root, parsedCommand) => {
    if (allowed.subcommands?.includes(parsedCommand.name()) === false) throw notAllowed();
    refuseOptions(parsedCommand, allowed);
    parsed = { args: parsedCommand.processedArgs, options: parsedCommand.opts(), input };
    subject = allowed.subject(parsed, context);
  });
  try {
    await command.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) throw badRequest(inOneLine(error.message));
    throw error instanceof CommandError ? badRequest(error.message) : error;
  }
  if (task === undefined) throw notAllowed();
  return {
    command: commandLine(argv, context),
    subject,
    run: withConsole(allowed.around?.(parsed, context, task) ?? task, parsed, context),
  };
}

const isAllowed = (script: string): script is keyof PageCommands => Object.hasOwn(COMMANDS, script);

const notAllowed = () => badRequest(`The console does not run this command. It runs: ${ALLOWED.join(', ')}`);

/** @throws ApiProblem if the console does not allow one of the options */
function refuseOptions(command: CommandUnknownOpts, { options }: AllowedCommand): void {
  for (const option of command.options) {
    if (options.includes(option.long ?? '')) continue;
    const name = option.attributeName();
    const source = command.getOptionValueSource(name);
    // `--export` and `--no-export` share a value.
    const isGiven = option.negate === (command.getOptionValue(name) === false);
    if (source === 'cli' && isGiven) {
      const known = options.length === 0 ? 'none' : options.join(', ');
      throw badRequest(`The console does not support ${option.long}. Supported options: ${known}`);
    }
    // A secret in the environment may be of another stack. The secret of the console's stack is used.
    if (source === 'env') command.setOptionValueWithSource(name, option.defaultValue, 'default');
  }
}

function commandLine([script, ...words]: readonly string[], { source }: CommandContext): string {
  const shown = words.slice(0, WORDS_SHOWN).map(shellWord);
  const all = words.length > WORDS_SHOWN ? [...shown, '…'] : shown;
  return printable(source.stage.command(all.join(' '), script));
}

/** Gives a task what it would read from a terminal. */
function withConsole(task: CommandTask, { input }: ParsedCommand, { source }: CommandContext): CommandTask {
  return (operation) =>
    task({
      ...operation,
      input: input === undefined ? undefined : Buffer.from(input),
      recorded: async (id) => {
        const delivery = source.store.get(id);
        if (delivery === undefined) return undefined;
        const body = await source.body(delivery);
        return { request: await source.request(delivery), body };
      },
    });
}

/** Blocks reads of the queue meanwhile, and records which deliveries were redriven. */
function redriven(
  { args: [name] }: ParsedCommand,
  { source, queueLocks }: CommandContext,
  task: CommandTask,
): CommandTask {
  const { url } = waitingQueue(source.stage, String(name));
  // No log line reports a redrive; the first one is of the next attempt. So the redrive is recorded here.
  const onRedriven: Operation['onRedriven'] = (message, at) => {
    const { requestId, eventId, event } = attributesOf(message);
    if (requestId !== undefined) source.store.add({ kind: 'redrive', at, requestId, eventId, event });
  };
  return (operation) => queueLocks.redrive(url, () => task({ ...operation, onRedriven }));
}
