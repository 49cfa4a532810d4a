import { randomUUID } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import type { Operation } from '../../stage/operation.ts';
import type { Stage } from '../../stage/stage.ts';
import { forPeople } from '../../stage/work.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { describe } from '../../terminal/progress.ts';
import { printable } from '../../terminal/text.ts';
import type { Task } from '../api.ts';
import { Problem } from './problem.ts';

/** Tasks that are remembered. */
export const KEPT_TASKS = 50;

/** Lines of a task that are kept, the newest: a redrive says one each second. */
const KEPT_LINES = 1_000;

/** Characters of a line that commands lay their text out for. */
const WIDTH = 100;

/** Milliseconds between two times that pages are told of the same task. */
const TOLD_EVERY = 100;

/** What a task is to do. */
export interface Work {
  /** What stands for it in a terminal. */
  readonly command: string;
  /** What nothing else may act on meanwhile: `the dead-letter queue of shop.updated`. */
  readonly subject?: string | undefined;
  /** Returns the id of the delivery that it sent, or false where it has said itself what it could not do. */
  run(operation: Operation): Promise<TaskResult>;
}

export type TaskResult = boolean | { readonly delivery: string | undefined };

interface Running {
  readonly subject: string | undefined;
  readonly interruption: AbortController;
  readonly ended: Promise<void>;
}

/** Actions that are under way or done, the newest last. */
export class Tasks {
  readonly #stack: Stage;
  readonly #tell: (task: Task) => void;
  readonly #tasks = new Map<string, Task>();
  readonly #running = new Map<string, Running>();
  #isClosing = false;

  /** @param tell told of a task whenever it has changed, though not of every change */
  constructor(stack: Stage, tell: (task: Task) => void) {
    this.#stack = stack;
    this.#tell = tell;
  }

  /** Newest first. */
  list(): Task[] {
    return [...this.#tasks.values()].reverse();
  }

  get(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  /** @throws Problem where something else acts on the same, or the console closes */
  start({ command, subject, run }: Work): Task {
    if (this.#isClosing) {
      throw new Problem('closing', 503, 'Closing', 'The console is closing: nothing is begun any more');
    }
    const other = [...this.#running].find(
      ([, running]) => subject !== undefined && running.subject === subject,
    );
    if (other !== undefined) {
      const otherCommand = this.#tasks.get(other[0])?.command ?? '';
      throw new Problem(
        'under-way',
        409,
        'Under way',
        `Something acts on ${subject} already: ${otherCommand}. Wait for its end, or interrupt it`,
      );
    }
    const id = randomUUID();
    const interruption = new AbortController();
    const record = new Recorder({ id, command, state: 'running', lines: [] }, (task) => this.#keep(task));
    const task = record.task;
    this.#keep(task);
    const ended = this.#carryOut(run, record, interruption.signal).finally(() => this.#running.delete(id));
    this.#running.set(id, { subject, interruption, ended });
    return task;
  }

  /** Ends a task as Ctrl-C ends the command: nothing is left half done. @returns whether it was running */
  interrupt(id: string): boolean {
    const running = this.#running.get(id);
    running?.interruption.abort();
    return running !== undefined;
  }

  /** Interrupts every task, begins no other, and waits until each has left things in order. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const all = [...this.#running.values()];
    for (const { interruption } of all) interruption.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  async #carryOut(run: Work['run'], record: Recorder, signal: AbortSignal): Promise<void> {
    const operation: Operation = {
      stack: this.#stack,
      signal,
      say: (line) => record.say(line),
      width: WIDTH,
      progress: {
        show: (step) => record.progress(describe(step, 0)),
        end: () => record.progress(undefined),
      },
    };
    try {
      const result = await run(operation);
      record.end(
        result === false ? 'failed' : 'done',
        typeof result === 'object' ? result.delivery : undefined,
      );
    } catch (error) {
      record.say(lineOf(error, signal, this.#stack.local));
      record.end('failed');
    }
  }

  #keep(task: Task): void {
    this.#tasks.set(task.id, task);
    for (const id of this.#tasks.keys()) {
      if (this.#tasks.size <= KEPT_TASKS) break;
      if (!this.#running.has(id)) this.#tasks.delete(id);
    }
    this.#tell(task);
  }
}

/** What a task says, as it is to be shown. */
class Recorder {
  readonly #changed: (task: Task) => void;
  readonly #lines: string[] = [];
  #task: Task;
  #progress: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(task: Task, changed: (task: Task) => void) {
    this.#task = task;
    this.#changed = changed;
  }

  get task(): Task {
    return this.#task;
  }

  say(text: string): void {
    // Commands colour what they say where a terminal started this process.
    for (const line of stripVTControlCharacters(text).split('\n')) this.#lines.push(printable(line));
    if (this.#lines.length > KEPT_LINES) this.#lines.splice(0, this.#lines.length - KEPT_LINES);
    this.#change();
  }

  /** Shows a line that changes below the others, or takes it away. */
  progress(line: string | undefined): void {
    if (line === this.#progress) return;
    this.#progress = line;
    this.#change();
  }

  end(state: 'done' | 'failed', delivery?: string): void {
    clearTimeout(this.#timer);
    this.#progress = undefined;
    this.#task = { ...this.#now(), state, ...(delivery !== undefined && { delivery }) };
    this.#changed(this.#task);
  }

  #change(): void {
    this.#task = this.#now();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#changed(this.#task);
    }, TOLD_EVERY);
  }

  #now(): Task {
    const lines = this.#progress === undefined ? [...this.#lines] : [...this.#lines, this.#progress];
    return { ...this.#task, lines };
  }
}

/** What kept a task from its end, in one line. */
function lineOf(error: unknown, signal: AbortSignal, local: boolean): string {
  if (signal.aborted && error instanceof Error && error.name === 'AbortError') return 'Interrupted.';
  const said = forPeople(error, local);
  if (said instanceof CommandError) return said.message;
  const { name, message } = said instanceof Error ? said : { name: 'Error', message: String(said) };
  return `${name}: ${message.split('\n')[0]}`;
}
