import { Option } from '@commander-js/extra-typings';
import type { Block } from '../cli/terminal/block.ts';
import { CommandError } from '../cli/terminal/command-error.ts';
import { blockLines } from '../cli/terminal/layout.ts';
import type { ProgressDisplay } from '../cli/terminal/progress.ts';
import { INTERRUPTED, interruption, screenWidth } from '../cli/terminal/terminal.ts';
import { NOT_RUNNING } from './local-folder.ts';
import type { RecordedRequest } from './signed-post.ts';
import type { Stage } from './stage.ts';

/** What a command works with: in a terminal, or in the console, which runs some commands itself. */
export interface Operation {
  readonly stack: Stage;
  /** Aborted by Ctrl-C. Work stops at a point where nothing is half done, and prints what became of the messages. */
  readonly signal: AbortSignal;
  /** Prints a line. */
  readonly printLine: (line: string) => void;
  /** Characters of a line; Infinity if the output is not a terminal. */
  readonly width: number;
  /** Prints a part of the output. @default its lines, by `printLine` */
  readonly print?: (block: Block) => void;
  /** Shows how far long work has come. @default a line on standard error */
  readonly progress?: ProgressDisplay;
  /** What the command reads from standard input. @default standard input */
  readonly input?: Uint8Array | undefined;
  /** A delivery, by the id of its request. @default asks the console of the local stack */
  readonly recorded?: (id: string) => Promise<RecordedDelivery | undefined>;
  /** Called with the id of each request that was posted. */
  readonly onPosted?: (requestId: string) => void;
}

/** A delivery as the console has it. */
export interface RecordedDelivery {
  /** Without headers if only the body is known. */
  readonly request: RecordedRequest;
  /** Undefined if it is not kept. */
  readonly body: Uint8Array | undefined;
}

/** Prints parts of an output, one below the other. */
export function printBlocks({ printLine, width, print }: Operation, blocks: readonly Block[]): void {
  for (const block of blocks) {
    if (print === undefined) for (const line of blockLines(block, width)) printLine(line);
    else print(block);
  }
}

/** Which stack. */
interface Where {
  readonly stage?: string | undefined;
  readonly outputs?: string | undefined;
  /** Address of a webhook, instead of a stage. */
  readonly url?: string | undefined;
}

/**
 * Does the task of a command: {@link runOperation} in a terminal. The console has its own, which does it on the console's stack.
 * @param task returns false if it could not do everything, and has printed why
 */
export type RunOperation = (where: Where, task: (operation: Operation) => Promise<unknown>) => Promise<void>;

export const stageOption = () =>
  new Option('--stage <stage>', 'stage in AWS (default: the stack that npm start runs)');

export const outputsOption = () =>
  new Option('--outputs <file>', 'file that cdk deploy --outputs-file wrote, instead of --stage');

/**
 * Does a task on the stack that the options name: by default the one that `npm start` runs.
 * @throws CommandError if there is no such stack, or AWS refuses something
 */
export const runOperation: RunOperation = async (where, task) => {
  const interrupted = interruption();
  let stack: Stage | undefined;
  try {
    stack = await findStack(where);
    const done = await task({ stack, signal: interrupted, printLine: console.log, width: screenWidth() });
    if (done === false) process.exitCode = 1;
  } catch (error) {
    if (!isInterruption(error, interrupted)) throw forPeople(error, stack?.local ?? false);
  } finally {
    stack?.close();
  }
  if (interrupted.aborted) process.exitCode = INTERRUPTED;
};

/** Whether an error means only that the work was interrupted. */
export const isInterruption = (error: unknown, signal: AbortSignal) =>
  signal.aborted && error instanceof Error && error.name === 'AbortError';

/** @throws CommandError if there is no such stack, or two are named */
async function findStack({ stage, outputs, url }: Where): Promise<Stage> {
  if (stage !== undefined && outputs !== undefined) {
    throw new CommandError('Either --stage or --outputs, not both');
  }
  // Loading it with AWS' clients takes longer than to refuse most wrong options.
  const { findLocalStack, findStackOfFile, findStage, stageAt } = await import('./stage.ts');
  if (url !== undefined) return stageAt(new URL(url));
  if (stage !== undefined) return findStage(stage);
  return outputs === undefined ? findLocalStack() : findStackOfFile(outputs);
}

/** A refusal of AWS, or a failed connection to it, as one line. A fault of the command stays as it is. */
export function forPeople(error: unknown, local: boolean): unknown {
  if (!(error instanceof Error)) return error;
  if (local && 'code' in error && error.code === 'ECONNREFUSED') return new CommandError(NOT_RUNNING);
  if ('$metadata' in error || 'code' in error || error.name === 'CredentialsProviderError') {
    return new CommandError(`${error.name}: ${error.message.split('\n')[0]}`);
  }
  return error;
}

/** How AWS names a permission that is missing. */
const NOT_AUTHORIZED = /not authorized to perform: ([\w-]+:[\w*]+)/;

/**
 * Why something is unknown, in a line; names the permission if one is missing.
 * @throws the error, if it is a fault of the console itself
 */
export function refusalOf(error: unknown, local: boolean): string {
  const shown = forPeople(error, local);
  if (!(shown instanceof CommandError)) throw error;
  const permission = NOT_AUTHORIZED.exec(shown.message)?.[1];
  return permission === undefined ? shown.message : `the permission ${permission} is missing`;
}

/** @returns why AWS refuses it, or which output the stage lacks */
export async function orRefusal<Value>(
  { local }: Stage,
  ask: () => Promise<Value>,
): Promise<Value | { readonly refused: string }> {
  try {
    return await ask();
  } catch (error) {
    // An answer of a service has a fault. Without one, the network or the local stack is away, and nothing can be read.
    const isAnswer = error instanceof Error && '$fault' in error;
    if (!isAnswer && !(error instanceof CommandError)) throw error;
    return { refused: refusalOf(error, local) };
  }
}
