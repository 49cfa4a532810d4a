/**
 * Longest value that a notification carries, in characters. SNS takes 256 KB, of which each protocol's text is a part,
 * and a chat room reads a sentence. Source: Amazon SNS API reference, `Publish`.
 */
export const MAXIMUM_VALUE_LENGTH = 1000;

/** A value as a notification carries it: of a longer one the rest is cut, between characters. */
export function shortened(value: string): string {
  const characters = Array.from(value);
  return characters.length <= MAXIMUM_VALUE_LENGTH
    ? value
    : `${characters.slice(0, MAXIMUM_VALUE_LENGTH).join('')}…`;
}
