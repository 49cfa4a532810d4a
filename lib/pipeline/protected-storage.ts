import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import {
  LogGroup,
  type MetricFilter,
  type MetricFilterOptions,
  type RetentionDays,
} from 'aws-cdk-lib/aws-logs';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { type DeadLetterQueue, Queue, QueueEncryption, type QueuePolicy } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { DATA_KEY_REUSE_SECONDS, DEAD_LETTER_RETENTION_SECONDS } from '../../lambda/limits.ts';
import { acknowledge } from '../acknowledge.ts';
import type { Encryption } from '../encryption.ts';

interface ProtectedQueueProps {
  readonly encryption: Encryption;
  readonly removalPolicy: RemovalPolicy;
  /**
   * How long a received message stays hidden from other receivers.
   * @default 30 seconds
   */
  readonly visibilityTimeout?: Duration;
  /** The queue for messages that were received too often. @default none: people look into this queue */
  readonly deadLetterQueue?: DeadLetterQueue;
  /** Why the queue needs no dead-letter queue. @default people look into it */
  readonly lastStop?: string;
  /** How long the queue keeps a message. @default as long as dead letters */
  readonly retentionPeriod?: Duration;
}

/** A queue that is encrypted, and answers over TLS only. */
export class ProtectedQueue extends Queue {
  constructor(scope: Construct, id: string, { encryption, lastStop, ...props }: ProtectedQueueProps) {
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
    // A retained queue keeps its policy, which rejects requests without TLS.
    (this.node.findChild('Policy') as QueuePolicy).applyRemovalPolicy(props.removalPolicy);
    encryption.awaitGrants(this);
    if (props.deadLetterQueue === undefined) {
      for (const rule of ['AwsSolutions-SQS3', 'Serverless-SQSRedrivePolicy']) {
        acknowledge(
          this,
          rule,
          lastStop ??
            'The last stop: it has no consumer, an alarm fires for each message, and people redrive it.',
        );
      }
    }
  }
}

export interface ProtectedLogProps {
  /** @default CloudFormation makes one */
  readonly logGroupName?: string;
  readonly encryption: Encryption;
  readonly retention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
}

/** A log group, encrypted with the key of the setting `encryption`, if that is set. */
export class ProtectedLog extends LogGroup {
  #lastFilter: MetricFilter | undefined;

  constructor(scope: Construct, id: string, { encryption, ...props }: ProtectedLogProps) {
    super(scope, id, { ...props, ...(encryption.key && { encryptionKey: encryption.key }) });
    encryption.awaitGrants(this);
  }

  /**
   * Filters of one log are created one after another, because CloudWatch Logs rejects parallel changes with
   * `OperationAborted`. Source: CloudWatch Logs API reference, `PutMetricFilter`.
   */
  override addMetricFilter(id: string, props: MetricFilterOptions): MetricFilter {
    const filter = super.addMetricFilter(id, props);
    if (this.#lastFilter !== undefined) filter.node.addDependency(this.#lastFilter);
    this.#lastFilter = filter;
    return filter;
  }
}

interface ProtectedBucketProps {
  readonly encryption: Encryption;
  readonly removalPolicy: RemovalPolicy;
  /** Expiry of the objects. Required, because all of them may contain personal data. */
  readonly lifecycleRule: Pick<LifecycleRule, 'prefix' | 'expiration'>;
}

/** A bucket that is encrypted, answers over TLS only, and is never public. */
export class ProtectedBucket extends Bucket {
  constructor(scope: Construct, id: string, props: ProtectedBucketProps) {
    const { encryption, removalPolicy, lifecycleRule } = props;
    super(scope, id, {
      ...(encryption.key
        ? { encryption: BucketEncryption.KMS, encryptionKey: encryption.key, bucketKeyEnabled: true }
        : { encryption: BucketEncryption.S3_MANAGED }),
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      lifecycleRules: [{ ...lifecycleRule, abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      // By default, another account could own its objects, with access lists of its own.
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      removalPolicy,
    });
    this.policy?.applyRemovalPolicy(removalPolicy);
    encryption.awaitGrants(this);
  }
}
