import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
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
  type CfnBucket,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption, type QueuePolicy, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import type { Construct, IConstruct } from 'constructs';
import {
  DATA_KEY_REUSE_SECONDS,
  DEAD_LETTER_RETENTION_SECONDS,
  TABLE_RECOVERY_DAYS,
} from '../../lambda/limits.ts';
import { acknowledge } from '../acknowledge.ts';
import type { Encryption } from '../encryption.ts';

export interface StoredProps {
  readonly encryption: Encryption;
  readonly removalPolicy: RemovalPolicy;
}

interface ProtectedTableProps extends StoredProps {
  readonly key: string;
  /** Attribute by which the table can also be queried. */
  readonly index?: string;
  /** Attribute with the second since the epoch after which DynamoDB deletes an item. */
  readonly expiry?: string;
}

/** A table that is encrypted, can be restored, and cannot be deleted if it is retained. */
export class ProtectedTable extends Table {
  constructor(scope: Construct, id: string, props: ProtectedTableProps) {
    const { encryption, removalPolicy, key, index, expiry } = props;
    const isRetained = removalPolicy !== RemovalPolicy.DESTROY;
    super(scope, id, {
      partitionKey: { name: key, type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: {
        pointInTimeRecoveryEnabled: true,
        recoveryPeriodInDays: TABLE_RECOVERY_DAYS,
      },
      ...(expiry !== undefined && { timeToLiveAttribute: expiry }),
      deletionProtection: isRetained,
      // A protected table cannot be deleted, not even by the rollback of its own creation.
      removalPolicy: isRetained ? RemovalPolicy.RETAIN : removalPolicy,
      ...(encryption.key && {
        encryption: TableEncryption.CUSTOMER_MANAGED,
        encryptionKey: encryption.key,
      }),
    });
    if (index !== undefined) {
      const partitionKey = { name: index, type: AttributeType.STRING };
      this.addGlobalSecondaryIndex({ indexName: index, partitionKey });
    }
    encryption.awaitGrants(this);
  }

  permission(...actions: readonly string[]): PolicyStatement {
    return new PolicyStatement({ actions: [...actions], resources: [this.tableArn] });
  }
}

/** A topic that is encrypted, and answers over TLS only. */
export class ProtectedTopic extends Topic {
  readonly publishPermissions: readonly PolicyStatement[];

  constructor(scope: Construct, id: string, { encryption }: StoredProps) {
    super(scope, id, { masterKey: encryption.topicKey, enforceSSL: true });
    encryption.awaitGrants(this);
    this.publishPermissions = [
      new PolicyStatement({ actions: ['sns:Publish'], resources: [this.topicArn] }),
      ...encryption.topicPermissions,
    ];
  }
}

type ProtectedQueueProps = StoredProps &
  Pick<QueueProps, 'visibilityTimeout' | 'deadLetterQueue' | 'retentionPeriod'>;

/** A queue that is encrypted, and answers over TLS only. By default it keeps messages as long as dead letters. */
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
    // A retained queue keeps its policy, which rejects requests without TLS.
    (this.node.findChild('Policy') as QueuePolicy).applyRemovalPolicy(props.removalPolicy);
    encryption.awaitGrants(this);
    if (props.deadLetterQueue === undefined) {
      const reason =
        'The last stop: no consumer reads it. People redrive its messages, or they are probes, which expire.';
      for (const rule of ['AwsSolutions-SQS3', 'Serverless-SQSRedrivePolicy'])
        acknowledge(this, rule, reason);
    }
  }
}

export interface ProtectedLogProps extends StoredProps {
  /** @default CloudFormation makes one */
  readonly logGroupName?: string;
  readonly retention: RetentionDays;
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

interface ProtectedBucketProps extends StoredProps {
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
    acknowledge(
      this,
      'AwsSolutions-S1',
      'Only this stack and operators reach it; an access log would need a second bucket that nobody reads. CloudTrail data events can audit it.',
    );
  }

  /** Acknowledges the wildcard in a role's permissions. */
  acknowledgeWildcard(role: IConstruct, keys: string): void {
    const logicalId = Stack.of(this).getLogicalId(this.node.defaultChild as CfnBucket);
    const rule = `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>/${keys}]`;
    acknowledge(role, rule, 'The keys end in ids that are not known before the events come.');
  }
}
