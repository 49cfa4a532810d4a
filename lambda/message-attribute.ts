import { sha256Hex } from './hash.ts';

/** What SQS and SNS take as the value of a string attribute. Source: SQS API reference, `SendMessage`. */
const ACCEPTED_VALUE = /^[\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]+$/u;

/** Longest value that we send, in UTF-16 units: attributes count towards the size of a message. */
export const MAXIMUM_ATTRIBUTE_LENGTH = 2048;

/** A string attribute of an SQS or SNS message; a value that they would refuse becomes its hash. */
export function stringAttribute(value: string): { DataType: 'String'; StringValue: string } {
  const accepted = ACCEPTED_VALUE.test(value) && value.length <= MAXIMUM_ATTRIBUTE_LENGTH;
  return { DataType: 'String', StringValue: accepted ? value : `sha256:${sha256Hex(value)}` };
}
