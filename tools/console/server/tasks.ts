import { randomUUID } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { Hono } from 'hono';
import type { Operation } from '../../stage/operation.ts';
import { forPeople, isInterruption } from '../../stage/operation.ts';
import { answerTitle, type SentAnswer } from '../../stage/signed-post.ts';
import type { Stage } from '../../stage/stage.ts';
import type { ProgressStep } from '../../terminal/block.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { blockLines } from '../../terminal/layout.ts';
import { printable } from '../../terminal/text.ts';
import type { Task } from '../api.ts';
import { MAX_TASKS } from '../page-updates.ts';
import { ApiProblem, notFound } from './api-problem.ts';
import { type ConsoleContext, type ConsoleEnv, readJson } from './console-context.ts';
import { parseCommand, type RunnableCommand, taskRequestSchema } from './runnable-command.ts';

/** Maximum lines and blocks of output stored per task. Older ones are dropped. */
const MAX_LINES = 1_000;

/** Maximum request ids and answers stored per task. Older ones are dropped. */
const MAX_DELIVERIES = 1_000;

/** Maximum characters of the text of an answer. */
const MAX_ANSWER_LENGTH = 200;

/** Width of the output in characters, as of a terminal. */
const WIDTH = 100;

/** Milliseconds between two updates of the same task to pages. */
const INTERVAL = 100;

interface TaskEntry {
  readonly record: TaskRecord;
  readonly subject: string | undefined;
  readonly interruption: AbortController;
  readonly ended: Promise<void>;
}

export class Tasks {
  readonly #stack: Stage;
  readonly #onChange: (task: Task) => void;
  readonly #entries = new Map<string, TaskEntry>();
  #isClosing = false;

  /** @param onChange called after changes of a task; several changes may share one call */
  constructor(stack: Stage, onChange: (task: Task) => void) {
    this.#stack = stack;
    this.#onChange = onChange;
  }

  list(): Task[] {
    return [...this.#entries.values()].map(({ record }) => record.task).reverse();
  }

  get(id: string): Task | undefined {
    return this.#entries.get(id)?.record.task;
  }

  /** @throws ApiProblem if another task changes the same resource, or the console is closing */
  start({ argv, command, subject, run }: RunnableCommand): Task {
    if (this.#isClosing) {
      throw new ApiProblem('closing', 503, 'Closing', 'The console is closing and starts no new tasks');
    }
    const other = this.#running().find((one) => subject !== undefined && one.subject === subject);
    if (other !== undefined) {
      throw new ApiProblem(
        'under-way',
        409,
        'Already running',
        `A running task changes ${subject}: ${other.record.task.command}. Wait until it ends, or interrupt it`,
      );
    }
    const id = randomUUID();
    const interruption = new AbortController();
    const record = new TaskRecord({ id, argv, command }, this.#onChange);
    const { task } = record;
    const ended = this.#carryOut(run, record, interruption.signal);
    this.#entries.set(id, { record, subject, interruption, ended });
    for (const [oldest, { record }] of this.#entries) {
      if (this.#entries.size <= MAX_TASKS) break;
      if (record.task.state !== 'running') this.#entries.delete(oldest);
    }
    return task;
  }

  /** Interrupts a task as Ctrl-C does: it ends at a safe point. */
  interrupt(id: string): void {
    this.#entries.get(id)?.interruption.abort();
  }

  /** Interrupts all tasks, rejects new ones, and waits until all have ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const running = this.#running();
    for (const { interruption } of running) interruption.abort();
    await Promise.all(running.map(({ ended }) => ended));
  }

  #running(): TaskEntry[] {
    return [...this.#entries.values()].filter(({ record }) => record.task.state === 'running');
  }

  async #carryOut(run: RunnableCommand['run'], record: TaskRecord, signal: AbortSignal): Promise<void> {
    const operation: Operation = {
      stack: this.#stack,
      signal,
      printLine: (line) => record.add([line], { kind: 'text', text: line }),
      print: (block) => record.add(blockLines(block, WIDTH), block),
      width: WIDTH,
      progress: {
        show: (step) => record.progress(step),
        end: () => record.progress(undefined),
      },
      onPosted: (answer, requestId) => record.answered(answer, requestId),
    };
    try {
      const done = await run(operation);
      record.end(done !== false ? 'done' : signal.aborted ? 'interrupted' : 'failed');
    } catch (error) {
      const interrupted = isInterruption(error, signal);
      operation.printLine(interrupted ? 'Interrupted.' : lineOf(error, this.#stack.local));
      record.end(interrupted ? 'interrupted' : 'failed');
    }
  }
}

export function taskRoutes(console: ConsoleContext, tasks: Tasks) {
  const find = (id: string): Task => {
    const task = tasks.get(id);
    if (task !== undefined) return task;
    throw notFound(`There is no task ${id}. The console keeps the newest ${MAX_TASKS}`);
  };
  return new Hono<ConsoleEnv>()
    .get('/', (c) => c.json(tasks.list()))
    .get('/:id', (c) => c.json(find(c.req.param('id'))))
    .post('/', async (c) => {
      const request = await readJson(c, taskRequestSchema);
      return c.json(tasks.start(await parseCommand(request, console)), 202);
    })
    .delete('/:id', (c) => {
      const { id } = find(c.req.param('id'));
      tasks.interrupt(id);
      return c.json(find(id), 202);
    });
}

/**
 * A task in the form that pages get: its text contains no control characters, and its changes are sent at
 * intervals.
 */
class TaskRecord {
  readonly #onChange: (task: Task) => void;
  #task: Task;
  #timer: NodeJS.Timeout | undefined;

  constructor(about: Pick<Task, 'id' | 'argv' | 'command'>, onChange: (task: Task) => void) {
    const startedAt = new Date().toISOString();
    this.#task = {
      ...about,
      state: 'running',
      startedAt,
      blocks: [],
      lines: [],
      deliveries: [],
      answers: [],
    };
    this.#onChange = onChange;
    onChange(this.#task);
  }

  get task(): Task {
    return this.#task;
  }

  add(lines: readonly string[], block: Task['blocks'][number]): void {
    const isGap = block.kind === 'text' && block.text === '';
    this.change({
      lines: [...this.#task.lines, ...clean(lines).flatMap((line) => line.split('\n'))].slice(-MAX_LINES),
      blocks: [...this.#task.blocks, ...(isGap ? [] : [clean(block)])].slice(-MAX_LINES),
    });
  }

  progress(step: ProgressStep | undefined): void {
    this.change({ progress: step && clean(step) });
  }

  answered({ status, body }: SentAnswer, requestId: string | undefined): void {
    const { answers, deliveries } = this.#task;
    const text = clean(answerTitle(body)).slice(0, MAX_ANSWER_LENGTH);
    this.change({
      answers: [...answers, { status, text }].slice(-MAX_DELIVERIES),
      deliveries: [...deliveries, ...(requestId === undefined ? [] : [requestId])].slice(-MAX_DELIVERIES),
    });
  }

  change(changed: Partial<Task>): void {
    this.#task = { ...this.#task, ...changed };
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#onChange(this.#task);
    }, INTERVAL);
  }

  end(state: Exclude<Task['state'], 'running'>): void {
    clearTimeout(this.#timer);
    this.#task = { ...this.#task, state, progress: undefined, endedAt: new Date().toISOString() };
    this.#onChange(this.#task);
  }
}

/**
 * Removes terminal control sequences, such as the colours that commands print if the console was started in a
 * terminal.
 */
const clean = <Value>(value: Value): Value =>
  JSON.parse(JSON.stringify(value), (_key, part) =>
    typeof part === 'string' ? printable(stripVTControlCharacters(part)) : part,
  );

function lineOf(error: unknown, local: boolean): string {
  const shown = forPeople(error, local);
  if (shown instanceof CommandError) return shown.message;
  const { name, message } = shown instanceof Error ? shown : { name: 'Error', message: String(shown) };
  return `${name}: ${message.split('\n')[0]}`;
}
