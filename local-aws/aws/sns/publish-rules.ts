import { AwsError } from '../errors.ts';
import type { JsonObject } from '../json.ts';

/** Text without control characters and line breaks, 1 to 99 characters. Source: Amazon SNS API reference, `Publish`. */
const SUBJECT = /^[^\p{Cc}\p{Zl}\p{Zp}]{1,99}$/u;

/**
 * Text without surrogates and control characters. SNS accepts control characters, but silently drops the message at each
 * subscription with a filter policy. They are refused here, because nobody would notice that. Sources: SNS developer
 * guide, "Message attribute data types and validation"; https://github.com/aws/aws-sdk-java-v2/issues/5828.
 */
const ATTRIBUTE = /^[^\p{Cc}\p{Cs}\u{10000}-\u{10FFFF}]+$/u;

/**
 * Checks the texts of a message that SNS restricts.
 * @param form of Publish or PublishBatch
 * @throws AwsError InvalidParameter. SNS rejects only the invalid entry of a batch; this function rejects the whole batch.
 */
export function assertPublishable(form: JsonObject): void {
  for (const [field, value] of Object.entries(form)) {
    if (/(^|\.)Subject$/.test(field) && !SUBJECT.test(String(value))) {
      throw new AwsError('InvalidParameter', 'Invalid parameter: Subject');
    }
    if (/(^|\.)MessageAttributes\..*\.StringValue$/.test(field) && !ATTRIBUTE.test(String(value))) {
      throw new AwsError(
        'InvalidParameter',
        'Invalid parameter: MessageAttributes Reason: Invalid attribute value was passed in for message attribute',
      );
    }
  }
}
