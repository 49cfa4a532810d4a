/** Cuts a stream's text, which comes in arbitrary pieces, into lines. */
export class LineSplitter {
  #rest = '';

  /** @returns the lines that `text` completes, without their line ends */
  push(text: string): string[] {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    return lines;
  }

  /** @returns what has come since the last line end, if anything; it counts as a line from now on */
  flush(): string[] {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? [] : [rest];
  }
}
