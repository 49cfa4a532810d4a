import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { type DeadLetterQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { Encryption } from '../encryption.ts';
import { DATA_KEY_REUSE_SECONDS, DEAD_LETTER_RETENTION_SECONDS } from './queue-retention.ts';

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
   * @default none: people look into this queue
   */
  readonly deadLetterQueue?: DeadLetterQueue;
  /**
   * How long it keeps a message.
   * @default as dead letters
   */
  readonly retentionPeriod?: Duration;
}

/** A queue that is encrypted, and answers over TLS only. */
export class ProtectedQueue extends Queue {
  constructor(scope: Construct, id: string, { encryption, ...props }: ProtectedQueueProps) {
    super(scope, id, {
      retentionPeriod: Duration.seconds(DEAD_LETTER_RETENTION_SECONDS),
      ...props,
      ...(encryption.key
        ? {
            encryption: QueueEncryption.KMS,
            encryptionMasterKey: encryption.key,
            dataKeyReuse: Duration.seconds(DATA_KEY_REUSE_SECONDS),
          }
        : { encryption: QueueEncryption.SQS_MANAGED }),
      enforceSSL: true,
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
