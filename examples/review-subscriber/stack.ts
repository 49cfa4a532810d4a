import { fileURLToPath } from 'node:url';
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { SubscriptionFilter, Topic } from 'aws-cdk-lib/aws-sns';
import { SqsSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

export interface ReviewSubscriberProps extends StackProps {
  /** `ReviewTopicArn` of the webhook stack's outputs, in the same region. */
  readonly topicArn: string;
  /**
   * Ids of the shops whose reviews are wanted.
   * @default those of every shop
   */
  readonly shops?: readonly string[];
  /**
   * Whether to receive notifications of replays: about events without a notification so far, as after an outage, and
   * with `--notify` about all events again.
   * @default true: without it, notifications lost in an outage never arrive
   */
  readonly replays?: boolean;
}

/** Timeout of the function, which must finish a whole batch in it. */
const TIMEOUT = Duration.seconds(30);

/** How long a failing message is retried. Shorter outages need no action. */
const PATIENCE = Duration.hours(6);

/**
 * Time between two attempts. Source: Lambda developer guide, "Configuring a queue to use with Lambda": six times the
 * function's timeout.
 */
const BETWEEN_ATTEMPTS = Duration.seconds(6 * TIMEOUT.toSeconds());

/** Maximum concurrent batches. */
const CONCURRENCY = 5;

/**
 * Stores reviews in its own table. Uses a queue, because a function that subscribes directly is invoked asynchronously:
 * three attempts within minutes, and then the notification is lost. A queue retries failures for {@link PATIENCE}, lets
 * single notifications of a batch fail, limits the concurrency, and moves hopeless messages to a dead-letter queue,
 * from which they can be redriven.
 */
export class ReviewSubscriber extends Stack {
  constructor(scope: Construct, id: string, props: ReviewSubscriberProps) {
    super(scope, id, props);
    const { topicArn, shops, replays = true } = props;

    const deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const queue = new Queue(this, 'Notifications', {
      // A KMS key would need a policy that lets SNS use it.
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: BETWEEN_ATTEMPTS,
      deadLetterQueue: {
        queue: deadLetters,
        maxReceiveCount: PATIENCE.toSeconds() / BETWEEN_ATTEMPTS.toSeconds(),
      },
    });
    Topic.fromTopicArn(this, 'ReviewTopic', topicArn).addSubscription(
      new SqsSubscription(queue, {
        // The message is the notification itself, without SNS's envelope.
        rawMessageDelivery: true,
        filterPolicy: {
          // The topic may publish other events later.
          event: SubscriptionFilter.stringFilter({ allowlist: ['review.posted'] }),
          ...(shops && { shop_id: SubscriptionFilter.stringFilter({ allowlist: [...shops] }) }),
          ...(!replays && { replay: SubscriptionFilter.notExistsFilter() }),
        },
        deadLetterQueue: deadLetters,
      }),
    );

    const table = new Table(this, 'Reviews', {
      partitionKey: { name: 'event_id', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
    });
    const logGroup = new LogGroup(this, 'Log', { retention: RetentionDays.ONE_MONTH });
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    role.addToPolicy(new PolicyStatement({ actions: ['dynamodb:PutItem'], resources: [table.tableArn] }));
    logGroup.grantWrite(role);
    const subscriber = new NodejsFunction(this, 'Subscriber', {
      entry: fileURLToPath(new URL('handler.ts', import.meta.url)),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: TIMEOUT,
      memorySize: 256,
      role,
      logGroup,
      environment: { TABLE_NAME: table.tableName },
      // Bundles the tested SDK version instead of using Lambda's current one.
      bundling: { bundleAwsSDK: true },
    });
    subscriber.addEventSource(
      new SqsEventSource(queue, { reportBatchItemFailures: true, maxConcurrency: CONCURRENCY }),
    );

    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'QueueUrl', { value: queue.queueUrl });
    new CfnOutput(this, 'DeadLettersUrl', { value: deadLetters.queueUrl });
    // Names the target queue, because SQS does not know it for messages that SNS has put there.
    new CfnOutput(this, 'Redrive', {
      value: `aws sqs start-message-move-task --source-arn ${deadLetters.queueArn} --destination-arn ${queue.queueArn}`,
    });
  }
}
