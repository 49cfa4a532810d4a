/** One message of an event stream. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  /** Where to go on after it; empty where the stream has not named one. */
  readonly id: string;
}

/**
 * Reads the text of an event stream, in whatever pieces it comes (the HTML standard, "Parsing an event stream").
 * A message that the stream ends in the middle of is dropped, as the standard says.
 */
export class ServerSentEventParser {
  /** The beginning of a line, whose end has not come: in its pieces, so that a long line costs what it is long. */
  #pieces: string[] = [];
  /** A line ended with CR: an LF that follows belongs to it. */
  #skipLineFeed = false;
  #data: string[] = [];
  #event = '';
  #id = '';

  /** @returns the messages that are whole with this piece */
  push(piece: string): ServerSentEvent[] {
    const found: ServerSentEvent[] = [];
    let start = 0;
    if (this.#skipLineFeed && piece !== '') {
      if (piece.startsWith('\n')) start = 1;
      this.#skipLineFeed = false;
    }
    const lineEnd = /\r\n|\n|\r/g;
    lineEnd.lastIndex = start;
    for (let end = lineEnd.exec(piece); end !== null; end = lineEnd.exec(piece)) {
      this.#line([...this.#pieces, piece.slice(start, end.index)].join(''), found);
      this.#pieces = [];
      start = lineEnd.lastIndex;
      if (end[0] === '\r' && start === piece.length) this.#skipLineFeed = true;
    }
    if (start < piece.length) this.#pieces.push(piece.slice(start));
    return found;
  }

  #line(line: string, found: ServerSentEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) {
        found.push({ event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id });
      }
      this.#data = [];
      this.#event = '';
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
  }
}
