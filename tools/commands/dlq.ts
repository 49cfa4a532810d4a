import { type FileHandle, open } from 'node:fs/promises';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { exportMessages } from '../operate/dead-letters/export.ts';
import { list } from '../operate/dead-letters/list.ts';
import { redriveAll } from '../operate/dead-letters/move-task.ts';
import type { Operation } from '../operate/dead-letters/operation.ts';
import { waitingQueue } from '../operate/dead-letters/queue.ts';
import { redriveEach } from '../operate/dead-letters/redrive-each.ts';
import { show } from '../operate/dead-letters/show.ts';
import {
  type FoundStack,
  findLocalStack,
  findStackOfFile,
  findStage,
  NOT_RUNNING,
} from '../operate/stack.ts';
import { CommandError } from '../terminal/command-error.ts';

const USAGE =
  'Usage: npm run dlq -- list | show <event> | redrive <event> | export <event>, where <event> is also quarantine or unrouted';

/** What a shell reports of a command that Ctrl-C ended. */
const INTERRUPTED = 130;

/** One Ctrl-C comes several times at once: from the terminal, and passed on by npm and tsx. */
const SECOND_INTERRUPTION_MILLISECONDS = 1000;

/** Which stack: by default the one that `npm start` runs. */
const STACK_OPTIONS = { stage: { type: 'string' }, outputs: { type: 'string' } } as const;

/** `npm run dlq`: looks at the messages that could not be processed, and redrives them. */
export async function run([subcommand, ...args]: string[]): Promise<void> {
  switch (subcommand) {
    case 'list': {
      const { values } = parse(args, {}, 0);
      return work(values, list);
    }
    case 'show': {
      const options = {
        limit: { type: 'string', default: '20' },
        payload: { type: 'boolean', default: false },
      } as const;
      const { values, name } = parse(args, options, 1);
      const limit = wholeNumber(values.limit, 'limit', 10_000);
      return work(values, (operation) =>
        show(operation, waitingQueue(operation.stack, name), { limit, payload: values.payload }),
      );
    }
    case 'redrive': {
      const options = { id: { type: 'string', multiple: true }, rate: { type: 'string' } } as const;
      const { values, name } = parse(args, options, 1);
      const rate = values.rate === undefined ? {} : { rate: wholeNumber(values.rate, 'rate', 500) };
      return work(values, async (operation) => {
        const queue = waitingQueue(operation.stack, name);
        if (queue.kind === 'dead-letter' && values.id === undefined) {
          return redriveAll(operation, queue, rate);
        }
        if (values.rate !== undefined)
          throw new CommandError('--rate is for a redrive of all dead letters of an event');
        return redriveEach(operation, queue, values.id);
      });
    }
    case 'export': {
      const { values, name } = parse(args, { output: { type: 'string' } } as const, 1);
      return work(values, async (operation) => {
        const queue = waitingQueue(operation.stack, name);
        await using destination = new Destination(values.output);
        // The lines go to standard output, so what is said about them does not.
        const aside = { ...operation, say: (line: string) => console.error(line) };
        return exportMessages(aside, queue, (line) => destination.write(line));
      });
    }
    default:
      throw new CommandError(USAGE);
  }
}

function parse<Options extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: Options,
  names: 0 | 1,
) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...options, ...STACK_OPTIONS },
  });
  if (positionals.length !== names) throw new CommandError(USAGE);
  return { values, name: positionals[0] ?? '' };
}

function wholeNumber(text: string, option: string, most: number): number {
  const number = Number(text);
  if (/^[1-9]\d*$/.test(text) && number <= most) return number;
  throw new CommandError(`--${option} must be a whole number from 1 to ${most}, not '${text}'`);
}

/** @param task returns false where it could not do all that it was told, which it has said itself */
async function work(
  { stage, outputs }: { stage?: string | undefined; outputs?: string | undefined },
  task: (operation: Operation) => Promise<unknown>,
): Promise<void> {
  const interruption = onInterruption();
  let stack: FoundStack | undefined;
  try {
    stack = await find(stage, outputs);
    const done = await task({ stack, signal: interruption, say: (line) => console.log(line) });
    if (done === false) process.exitCode = 1;
    if (interruption.aborted) process.exitCode = INTERRUPTED;
  } catch (error) {
    throw inOneLine(error, stack?.local ?? false);
  } finally {
    for (const client of stack ? [stack.sqs, stack.s3, stack.secrets] : []) client.destroy();
  }
}

/** @returns a signal that Ctrl-C aborts; a second Ctrl-C ends the process */
function onInterruption(): AbortSignal {
  const controller = new AbortController();
  let first: number | undefined;
  const interrupt = () => {
    first ??= Date.now();
    controller.abort();
    if (Date.now() - first >= SECOND_INTERRUPTION_MILLISECONDS) process.exit(INTERRUPTED);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
  return controller.signal;
}

async function find(stage: string | undefined, outputs: string | undefined): Promise<FoundStack> {
  if (stage !== undefined && outputs !== undefined) {
    throw new CommandError('Either --stage or --outputs, not both');
  }
  if (stage !== undefined) return findStage(stage);
  return outputs === undefined ? findLocalStack() : findStackOfFile(outputs);
}

/** What AWS or the way to it has against a command is said in one line; a fault of the command is not. */
function inOneLine(error: unknown, local: boolean): unknown {
  if (!(error instanceof Error)) return error;
  if (local && 'code' in error && error.code === 'ECONNREFUSED') return new CommandError(NOT_RUNNING);
  if (error.message === 'Region is missing') {
    return new CommandError('Which AWS region? Set AWS_REGION, or AWS_PROFILE to a profile that has one');
  }
  if ('$metadata' in error || 'code' in error || error.name === 'CredentialsProviderError') {
    return new CommandError(`${error.name}: ${error.message.split('\n')[0]}`);
  }
  return error;
}

/** Where an export goes: standard output, or a file that must not exist yet. */
class Destination implements AsyncDisposable {
  readonly #path: string | undefined;
  #file: FileHandle | undefined;
  /** Lines come from several messages at a time, and are written one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(path: string | undefined) {
    this.#path = path;
    // A failed write says so itself; what it also emits would end the process with messages in hand.
    process.stdout.on('error', () => {});
  }

  write(line: string): Promise<void> {
    this.#last = this.#last.then(() => this.#write(line));
    return this.#last;
  }

  async #write(line: string): Promise<void> {
    if (this.#path === undefined) {
      await writeOut(line);
      return;
    }
    this.#file ??= await this.#create(this.#path);
    await this.#file.write(line);
  }

  /** For its owner only: it holds personal data. */
  async #create(path: string): Promise<FileHandle> {
    try {
      return await open(path, 'wx', 0o600);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new CommandError(code === 'EEXIST' ? `${path} exists already` : message);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
  }
}

/** @throws CommandError where nobody reads standard output any more */
function writeOut(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(line, (error) => {
      if (error) reject(new CommandError(`The export is incomplete: ${error.message}`));
      else resolve();
    });
  });
}
