import { printable } from '../../terminal/text.ts';

/**
 * Characters of a reason. An alarm takes 1,023, and who it was stands before it: an ARN of some 600 at most. Source:
 * CloudWatch API reference, "SetAlarmState"; IAM user guide, "IAM and AWS STS quotas".
 */
export const LONGEST_REASON = 400;

/** Whether a text can be a reason: one line, that a terminal and a mail show as it is. */
export function isReason(text: string): boolean {
  return (
    text.trim() !== '' &&
    text.length <= LONGEST_REASON &&
    !/\s/.test(text.replaceAll(' ', '')) &&
    printable(text) === text
  );
}
