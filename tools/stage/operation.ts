import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { LocalStack } from 'local-aws';
import { CommandError, UsageError } from '../terminal/command-error.ts';
import { typedPath } from '../terminal/files.ts';
import { Progress, type ProgressDisplay } from '../terminal/progress.ts';
import { INTERRUPTED, interruption, screenWidth } from '../terminal/terminal.ts';
import { NOT_RUNNING } from './local-folder.ts';
import type { ReadMessage } from './queues/received-message.ts';
import type { SentAnswer } from './signed-post.ts';
import type { Stage } from './stage.ts';

/** The environment in which a command works: a terminal, or the console, which runs some commands itself. */
export interface Operation {
  readonly stack: Stage;
  /** Aborted by Ctrl-C. The work stops at a safe point and prints the state of the messages. */
  readonly signal: AbortSignal;
  readonly printLine: (line: string) => void;
  /** Columns; Infinity if the output is not a terminal. */
  readonly width: number;
  readonly progress: ProgressDisplay;
  /** Used instead of the process's standard input. */
  readonly input?: Uint8Array | undefined;
  /** Finds the bytes of a delivery by the id of its request. Only in a console. */
  readonly recorded?: (id: string) => Promise<Uint8Array | undefined>;
  /** The local stack of this process, which only its console has. */
  readonly localStack?: Pick<LocalStack, 'faults'> | undefined;
  /** Called with the result of the command, as data. */
  readonly report?: (result: object) => void;
  /** Called with each message that a redrive has moved to another queue, and the time before, in epoch milliseconds. */
  readonly onRedriven?: (message: ReadMessage, at: number) => void;
  readonly onPosted?: (answer: SentAnswer) => void;
}

/**
 * An operation for `--json`: the result is one JSON object on standard output, and lines for people go to standard
 * error.
 */
export function reporting(operation: Operation, json: true | undefined): Operation {
  if (json === undefined) return operation;
  const report = (result: object) => operation.printLine(JSON.stringify(result, undefined, 2));
  return { ...operation, printLine: console.error, report };
}

interface Where {
  readonly stage?: string | undefined;
  readonly outputs?: string | undefined;
  /** Address of an AWS endpoint of a stage. @default AWS, or the endpoint of the queues in `outputs` */
  readonly endpoint?: string | undefined;
}

/**
 * Runs the task of a command: {@link runOperation} in a terminal. The console has its own implementation, which runs it
 * on the console's stack.
 * @param task returns false if it could not do everything, and has printed why
 */
export type RunOperation = (where: Where, task: (operation: Operation) => Promise<unknown>) => Promise<void>;

/** Adds the options that name the stage of a command. */
export const onStage = (command: Command, stageHelp = 'stage in AWS (default: the local stack)') =>
  command
    .addOption(new Option('--stage <stage>', stageHelp))
    .addOption(
      new Option(
        '--outputs <file>',
        'file that cdk deploy --outputs-file wrote, instead of --stage',
      ).argParser(typedPath),
    )
    .addOption(
      new Option('--endpoint <url>', 'AWS endpoint of the stage, if it is not AWS itself').argParser(
        (text) => {
          if (URL.canParse(text)) return text;
          throw new InvalidArgumentError('It must be an address, such as http://localhost:4566.');
        },
      ),
    );

/**
 * Runs a task on the stack that the options name: by default the one that `npm start` runs.
 * @throws CommandError if there is no such stack, or AWS rejects a call
 */
export const runOperation: RunOperation = async (where, task) => {
  const interrupted = interruption();
  let stack: Stage | undefined;
  try {
    stack = await findStack(where);
    const terminal = { printLine: console.log, width: screenWidth(), progress: new Progress() };
    const done = await task({ stack, signal: interrupted, ...terminal });
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

/**
 * @throws CommandError if there is no such stack, the options name two, or the environment names an endpoint that the
 * options do not name: the stage may be another one there
 */
async function findStack({ stage, outputs, endpoint }: Where): Promise<Stage> {
  if (stage !== undefined && outputs !== undefined) {
    throw new UsageError('Either --stage or --outputs, not both');
  }
  if (endpoint !== undefined && (stage ?? outputs) === undefined) {
    throw new UsageError('--endpoint is for --stage and --outputs');
  }
  // Loaded late, because the AWS clients load slowly and most wrong options can be rejected without them.
  const stages = await import('./find-stage.ts');
  const ofFile = outputs === undefined ? undefined : stages.findStackOfFile(outputs, endpoint);
  if (ofFile?.local || (stage ?? ofFile) === undefined) return ofFile ?? stages.findLocalStack();
  if (endpoint === undefined) await stages.refuseRedirection();
  return ofFile ?? stages.findStage(String(stage), endpoint);
}

/** An AWS error or a failed connection, as one line. Other errors are bugs, and are returned unchanged. */
export function forPeople(error: unknown, local: boolean): unknown {
  if (!(error instanceof Error)) return error;
  // `fetch` has the error of the connection as its cause.
  const { code } = (error.cause ?? error) as NodeJS.ErrnoException;
  if (local && code === 'ECONNREFUSED') return new CommandError(NOT_RUNNING);
  if ('$metadata' in error || 'code' in error || error.name === 'CredentialsProviderError') {
    return new CommandError(`${error.name}: ${error.message.split('\n')[0]}`);
  }
  return error;
}

/** Matches AWS's text about a missing permission. */
const NOT_AUTHORIZED = /not authorized to perform: ([\w-]+:[\w*]+)/;

/**
 * Why AWS did not answer, in one line. Names the permission if one is missing.
 * @throws the error itself if it is a bug
 */
export function refusalOf(error: unknown, local: boolean): string {
  const shown = forPeople(error, local);
  if (!(shown instanceof CommandError)) throw error;
  const permission = NOT_AUTHORIZED.exec(shown.message)?.[1];
  return permission === undefined ? shown.message : `the permission ${permission} is missing`;
}

/** @returns the result; `refused`: why AWS did not answer, or the name of the output that the stage lacks */
export async function orRefusal<Value>(
  { local }: Stage,
  ask: () => Promise<Value>,
): Promise<Value | { readonly refused: string }> {
  try {
    return await ask();
  } catch (error) {
    // An error that a service answered has `$fault`. All others mean that the network or the local stack is down.
    const isAnswer = error instanceof Error && '$fault' in error;
    if (!isAnswer && !(error instanceof CommandError)) throw error;
    return { refused: refusalOf(error, local) };
  }
}
