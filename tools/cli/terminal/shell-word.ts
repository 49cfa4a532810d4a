/** Characters that have no meaning in a shell. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** A text as one word of a command line that is to be copied into a shell. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
