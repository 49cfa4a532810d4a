import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';

/** TypeScript project that contains the sources of a running stack. */
const PROJECT = 'tools/watch/tsconfig.sources.json';

/** A line of `tsc`, such as `lambda/events/catalogue.ts(7,28): error TS2307: Cannot find module …`. */
const MISTAKE = /^(.+)\((\d+),(\d+)\): error (TS\d+): (.+)$/gm;

/** Checks the types of saved sources with `tsc`, one check at a time. */
export class TypeCheck {
  #running: ChildProcess | undefined;

  /**
   * @returns each error with its file and line; undefined if the check was stopped
   * @throws Error if `tsc` itself failed
   */
  async run(): Promise<readonly string[] | undefined> {
    const args = ['node_modules/typescript/bin/tsc', '--noEmit', '--pretty', 'false', '--project', PROJECT];
    // The process group allows ending `tsc` together with the process that it starts.
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    this.#running = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    // Low priority, so that the stack and the next rebuild are not delayed.
    unlessEnded(() => setPriority(Number(child.pid), constants.priority.PRIORITY_LOW));
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    this.#running = undefined;
    if (signal !== null) return undefined;
    const mistakes = [...output.matchAll(MISTAKE)].map(
      ([, file, line, column, error, text]) => `${file}:${line}:${column}: ${text} (${error})`,
    );
    if (code !== 0 && mistakes.length === 0) throw new Error(output.trim());
    return mistakes;
  }

  stop(): void {
    const { pid } = this.#running ?? {};
    if (pid !== undefined) unlessEnded(() => process.kill(-pid));
  }
}

function unlessEnded(act: () => void): void {
  try {
    act();
  } catch {
    // Ignored: the process has already ended.
  }
}
