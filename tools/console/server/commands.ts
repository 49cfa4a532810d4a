import { stripVTControlCharacters } from 'node:util';
import { Hono } from 'hono';
import { stream } from 'hono/streaming';
import { forPeople, isInterruption, type Operation } from '../../stage/operation.ts';
import { answerDetail } from '../../stage/signed-post.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { printable } from '../../terminal/text.ts';
import type { CommandRequest, CommandRun } from '../api.ts';
import { ApiProblem } from './api-problem.ts';
import { type ConsoleContext, parsed } from './console-context.ts';
import { commandSchema, type ParsedCommand, parseCommand } from './parse-command.ts';

/** Maximum lines, and sent deliveries, of a command. Older ones are dropped. */
const MAX_LINES = 1_000;

/** Maximum characters of the text of an answer. */
const MAX_ANSWER_LENGTH = 200;

/** Width of the output in characters, as of a terminal. */
const WIDTH = 100;

/** Milliseconds between two parts of an answer, so that a browser waits for a long command. */
const HEARTBEAT = 15_000;

interface RunningCommand {
  readonly subject: string | undefined;
  /** The command as typed in a terminal. */
  readonly command: string;
  readonly interruption: AbortController;
  readonly ended: Promise<CommandRun>;
}

interface CommandsOptions {
  /** Called before a command that changes something begins. */
  readonly before: () => Promise<void>;
  /** Called when a command that changes something has ended. */
  readonly onChange: () => unknown;
}

type CommandsContext = Pick<ConsoleContext, 'source' | 'local' | 'commands'>;

/** The commands that run for open pages. */
export class Commands {
  readonly #console: CommandsContext;
  readonly #options: CommandsOptions;
  readonly #running = new Set<RunningCommand>();
  #isClosing = false;

  constructor(context: CommandsContext, options: CommandsOptions) {
    this.#console = context;
    this.#options = options;
  }

  /** Whether a command changes a subject now. */
  isRunning = (subject: string) => this.#running.values().some((one) => one.subject === subject);

  /** @throws ApiProblem if it is not allowed, another command changes the same, or the console is closing */
  async start(request: CommandRequest): Promise<Readonly<RunningCommand>> {
    const { command, subject, run } = await parseCommand(request, this.#console);
    if (this.#isClosing) throw new ApiProblem(503, 'The console is closing and starts no new commands');
    const other = this.#running.values().find((one) => subject !== undefined && one.subject === subject);
    if (other !== undefined) {
      const what = `A running command changes ${subject}: ${other.command}`;
      throw new ApiProblem(409, `${what}. Wait until it ends`);
    }
    const interruption = new AbortController();
    const carriedOut = this.#carryOut({ command, subject, run }, interruption.signal, request.input);
    const ended = carriedOut.finally(() => {
      this.#running.delete(running);
      if (subject !== undefined) this.#options.onChange();
    });
    const running: RunningCommand = { subject, command, interruption, ended };
    this.#running.add(running);
    return running;
  }

  /** Interrupts all commands, rejects new ones, and waits until all have ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const all = [...this.#running];
    for (const { interruption } of all) interruption.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  async #carryOut(
    { command, subject, run }: ParsedCommand,
    signal: AbortSignal,
    input: string | undefined,
  ): Promise<CommandRun> {
    const { source, local } = this.#console;
    let lines: readonly string[] = [];
    let sent: CommandRun['sent'] = [];
    const printLine = (line: string) => {
      lines = last(lines, ...clean(line).split('\n'));
    };
    const endAs = (state: CommandRun['state']) => ({ command, state, lines, sent });
    const operation: Operation = {
      stack: source.stage,
      signal,
      printLine,
      width: WIDTH,
      progress: { show: () => {}, end: () => {} },
      input: input === undefined ? undefined : Buffer.from(input),
      localStack: local?.stack,
      async recorded(id) {
        const delivery = source.store.get(id);
        return delivery && source.body(delivery);
      },
      // No log line reports a redrive; the first one is of the next attempt. So the redrive is recorded here.
      onRedriven({ attributes: { requestId, eventId, event } }, at) {
        if (requestId !== undefined) source.store.add({ kind: 'redrive', at, requestId, eventId, event });
      },
      onPosted({ status, body, requestId }) {
        const text = clean(answerDetail(body)).slice(0, MAX_ANSWER_LENGTH);
        sent = last(sent, { requestId, status, text });
      },
    };
    try {
      if (subject !== undefined) await this.#options.before();
      return endAs((await run(operation)) === false ? 'failed' : 'done');
    } catch (error) {
      printLine(isInterruption(error, signal) ? 'Interrupted.' : lineOf(error, source.stage.local));
      return endAs('failed');
    }
  }
}

/** A command goes on if its page is closed: its changes are safe to repeat, but half of them may surprise. */
export const commandRoutes = (commands: Commands) =>
  new Hono().post('/', async (c) => {
    const request = await c.req.json().catch(() => {
      throw new ApiProblem(400, 'The body is not JSON');
    });
    const { ended } = await commands.start(parsed(commandSchema, request));
    c.header('content-type', 'application/json');
    // Compression would hold the spaces back.
    c.header('cache-control', 'no-store, no-transform');
    return stream(c, async (out) => {
      const space = setInterval(() => void out.write(' '), HEARTBEAT);
      await out.write(JSON.stringify(await ended.finally(() => clearInterval(space))));
    });
  });

const last = <Item>(items: readonly Item[], ...more: readonly Item[]) =>
  [...items, ...more].slice(-MAX_LINES);

/** Removes terminal control sequences, such as the colours of a console that was started in a terminal. */
const clean = (text: string) => printable(stripVTControlCharacters(text));

function lineOf(error: unknown, local: boolean): string {
  const shown = forPeople(error, local);
  if (shown instanceof CommandError) return shown.message;
  const { name, message } = shown instanceof Error ? shown : { name: 'Error', message: String(shown) };
  return `${name}: ${message.split('\n')[0]}`;
}
