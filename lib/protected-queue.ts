import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { type DeadLetterQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { Encryption } from './encryption.ts';

export interface ProtectedQueueProps {
  readonly encryption: Encryption;
  readonly removalPolicy: RemovalPolicy;
  /**
   * How long a received message stays hidden from other receivers.
   * @default 30 seconds
   */
  readonly visibilityTimeout?: Duration;
  /**
   * Where a message goes that was received too often.
   * @default none: the queue is itself a last stop that people look into
   */
  readonly deadLetterQueue?: DeadLetterQueue;
}

/** The longest that SQS keeps a message. Source: SQS developer guide, "Message quotas". */
const RETENTION = Duration.days(14);

/**
 * How long SQS uses a data key before it asks KMS for another one, 1 minute to 24 hours: as long as a queue still works
 * under a key that was withdrawn, and KMS may fail without a delivery that fails. It is SQS' own default; an hour would
 * save some cents (`docs/scale-and-cost.md`).
 */
export const DATA_KEY_REUSE = Duration.minutes(5);

/** A queue that is encrypted, answers over TLS only, and keeps messages as long as SQS can. */
export class ProtectedQueue extends Queue {
  constructor(scope: Construct, id: string, { encryption, ...props }: ProtectedQueueProps) {
    super(scope, id, {
      ...props,
      ...(encryption.key
        ? {
            encryption: QueueEncryption.KMS,
            encryptionMasterKey: encryption.key,
            dataKeyReuse: DATA_KEY_REUSE,
          }
        : { encryption: QueueEncryption.SQS_MANAGED }),
      enforceSSL: true,
      retentionPeriod: RETENTION,
    });
    encryption.awaitGrants(this);
    if (props.deadLetterQueue === undefined) {
      for (const rule of ['AwsSolutions-SQS3', 'Serverless-SQSRedrivePolicy']) {
        acknowledge(
          this,
          rule,
          'A last stop: nothing consumes it, an alarm rings for each message, people redrive.',
        );
      }
    }
  }
}
