import type { Block } from '../cli/terminal/block.ts';
import { blockLines } from '../cli/terminal/block-lines.ts';
import type { ProgressDisplay } from '../cli/terminal/progress.ts';
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
