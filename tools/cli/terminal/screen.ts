/** Characters of an id that a terminal shows: enough to tell two apart, and for `dlq redrive --id`. */
const SHORT_ID_LENGTH = 8;

/** Characters of a line; Infinity if the stream is not a terminal, so that nothing wraps in a file or a pipe. */
export function screenWidth(stream: NodeJS.WriteStream = process.stdout): number {
  return stream.isTTY ? stream.columns : Number.POSITIVE_INFINITY;
}

/** An id as a line of that width shows it: its beginning on a terminal, whole elsewhere. */
export function shownId(id: string, width = screenWidth()): string {
  return Number.isFinite(width) ? id.slice(0, SHORT_ID_LENGTH) : id;
}
