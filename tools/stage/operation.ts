import type { ProgressDisplay } from '../terminal/progress.ts';
import type { Stage } from './stage.ts';

/** What every subcommand of `npm run dlq` works with. */
export interface Operation {
  readonly stack: Stage;
  /** Aborted by Ctrl-C. Work stops where nothing is half done, and says what became of the messages. */
  readonly signal: AbortSignal;
  /** Writes a line for whoever runs the command. */
  readonly say: (line: string) => void;
  /** Characters of a line; Infinity where it is no terminal that shows them. */
  readonly width: number;
  /** Where it is shown how far long work has come. @default a line on standard error */
  readonly progress?: ProgressDisplay;
}
