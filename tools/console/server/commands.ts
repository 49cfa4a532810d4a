import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { Hono } from 'hono';
import { stream } from 'hono/streaming';
import { forPeople, isInterruption, type Operation } from '../../stage/operation.ts';
import { answerTitle } from '../../stage/signed-post.ts';
import type { Stage } from '../../stage/stage.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { printable } from '../../terminal/text.ts';
import type { CommandRun } from '../api.ts';
import { ApiProblem, notFound } from './api-problem.ts';
import { type ConsoleContext, type ConsoleEnv, readJson } from './console-context.ts';
import { commandSchema, parseCommand, type RunnableCommand } from './runnable-command.ts';

/** Maximum lines, and request ids and answers, of a command. Older ones are dropped. */
const MAX_LINES = 1_000;

/** Maximum characters of the text of an answer. */
const MAX_ANSWER_LENGTH = 200;

/** Width of the output in characters, as of a terminal. */
const WIDTH = 100;

/** Milliseconds between two updates of a command to its page. */
const INTERVAL = 100;

interface RunningCommand {
  readonly subject: string | undefined;
  readonly interruption: AbortController;
  readonly ended: Promise<void>;
  run: CommandRun;
}

/** The commands that run for open pages. */
export class Commands {
  readonly #stack: Stage;
  readonly #onChange: () => void;
  readonly #running = new Map<string, RunningCommand>();
  #isClosing = false;

  /** @param onChange called when a command that changes the stack begins and ends */
  constructor(stack: Stage, onChange: () => void) {
    this.#stack = stack;
    this.#onChange = onChange;
  }

  /** @throws ApiProblem if another command changes the same resource, or the console is closing */
  start({ command, subject, run }: RunnableCommand): Readonly<RunningCommand> {
    if (this.#isClosing) {
      throw new ApiProblem('closing', 503, 'Closing', 'The console is closing and starts no new commands');
    }
    const other = this.#running.values().find((one) => subject !== undefined && one.subject === subject);
    if (other !== undefined) {
      throw new ApiProblem(
        'under-way',
        409,
        'Already running',
        `A running command changes ${subject}: ${other.run.command}. Wait until it ends, or interrupt it`,
      );
    }
    const interruption = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const id = randomUUID();
    const running: RunningCommand = {
      subject,
      interruption,
      ended,
      run: { id, command, state: 'running', lines: [], deliveries: [], answers: [] },
    };
    this.#running.set(id, running);
    if (subject !== undefined) this.#onChange();
    this.#carryOut(run, running).finally(() => {
      this.#running.delete(id);
      if (subject !== undefined) this.#onChange();
      resolve();
    });
    return running;
  }

  /**
   * Interrupts a command as Ctrl-C does: it ends at a safe point.
   * @throws ApiProblem if no such command runs
   */
  interrupt(id: string): void {
    const running = this.#running.get(id);
    if (running === undefined) throw notFound(`No command with the id ${id} is running`);
    running.interruption.abort();
  }

  /** Interrupts all commands, rejects new ones, and waits until all have ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const all = [...this.#running.values()];
    for (const { interruption } of all) interruption.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  async #carryOut(run: RunnableCommand['run'], running: RunningCommand): Promise<void> {
    const { signal } = running.interruption;
    const change = (changed: Partial<CommandRun>) => {
      running.run = { ...running.run, ...changed };
    };
    const printLine = (line: string) =>
      change({ lines: last(running.run.lines, ...clean(line).split('\n')) });
    const operation: Operation = {
      stack: this.#stack,
      signal,
      printLine,
      width: WIDTH,
      progress: {
        show: (progress) => change({ progress }),
        end: () => change({ progress: undefined }),
      },
      onPosted: ({ status, body }, requestId) => {
        const { answers, deliveries } = running.run;
        const text = clean(answerTitle(body)).slice(0, MAX_ANSWER_LENGTH);
        change({
          answers: last(answers, { status, text }),
          deliveries: last(deliveries, ...(requestId === undefined ? [] : [requestId])),
        });
      },
    };
    try {
      const done = await run(operation);
      change({ state: done !== false ? 'done' : signal.aborted ? 'interrupted' : 'failed' });
    } catch (error) {
      const isInterrupted = isInterruption(error, signal);
      printLine(isInterrupted ? 'Interrupted.' : lineOf(error, this.#stack.local));
      change({ state: isInterrupted ? 'interrupted' : 'failed' });
    }
  }
}

/** A command goes on if its page is closed: its changes are safe to repeat, but half of them may surprise. */
export function commandRoutes(console: ConsoleContext, commands: Commands) {
  return new Hono<ConsoleEnv>()
    .post('/', async (c) => {
      const running = commands.start(await parseCommand(await readJson(c, commandSchema), console));
      c.header('content-type', 'application/x-ndjson');
      // Compression would hold lines back.
      c.header('cache-control', 'no-store, no-transform');
      return stream(c, async (out) => {
        let sent: CommandRun | undefined;
        while (sent?.state === undefined || sent.state === 'running') {
          const { run, ended } = running;
          if (run !== sent) await out.write(`${JSON.stringify(run)}\n`);
          sent = run;
          if (run.state === 'running') await Promise.race([ended, sleep(INTERVAL)]);
        }
      });
    })
    .delete('/:id', (c) => {
      commands.interrupt(c.req.param('id'));
      return c.body(null, 202);
    });
}

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
