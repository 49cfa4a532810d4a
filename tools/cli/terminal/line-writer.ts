/** How long a line may wait for others, in milliseconds: too short to see. */
const GATHERING = 20;

/**
 * Writes lines to standard output, those that come at about the same time together: each call waits
 * for the terminal, and a stack writes some four lines about each delivery.
 */
export class LineWriter {
  #lines: string[] = [];

  constructor() {
    // Also if an error ends the process: its last lines say why.
    process.once('exit', () => this.#flush());
  }

  readonly write = (line: string): void => {
    this.#lines.push(line);
    if (this.#lines.length === 1) setTimeout(() => this.#flush(), GATHERING);
  };

  #flush(): void {
    if (this.#lines.length > 0) process.stdout.write(`${this.#lines.splice(0).join('\n')}\n`);
  }
}
