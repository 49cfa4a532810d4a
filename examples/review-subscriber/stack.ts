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
  /** `ReviewTopicArn` of the webhook stack's outputs, of the same region. */
  readonly topicArn: string;
  /**
   * Ids of the shops whose reviews are wanted.
   * @default those of every shop
   */
  readonly shops?: readonly string[];
  /**
   * Whether it is told what a replay publishes: of events that nobody was told of, as in an outage, and with
   * `--notify` of all once more.
   * @default true: without it, what an outage has cost is never made good
   */
  readonly replays?: boolean;
}

/** Seconds that a batch may take. */
const TIMEOUT = Duration.seconds(30);

/** How long a message that fails is tried again, so that an outage of less passes by itself. */
const PATIENCE = Duration.hours(6);

/**
 * Between one attempt and the next. Source: Lambda developer guide, "Configuring a queue to use with Lambda": six times
 * the function's time.
 */
const BETWEEN_ATTEMPTS = Duration.seconds(6 * TIMEOUT.toSeconds());

/** Batches under way at a time. */
const CONCURRENCY = 5;

/**
 * Keeps reviews in a table of its own. Through a queue: a function that subscribes directly is told by an asynchronous
 * invocation, which is tried three times within minutes and then given up. A queue brings what fails back
 * for {@link PATIENCE}, lets one notification of a batch fail alone, bounds how many run at a time, and leaves what is
 * hopeless where somebody can look at it and send it on again.
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
      // Under a KMS key it would have to be one whose policy lets SNS use it.
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
        // The message is the notification itself, and not SNS' envelope with it inside.
        rawMessageDelivery: true,
        filterPolicy: {
          // The topic may tell of other events one day.
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
      // The SDK that it was tested with, and not the one that Lambda has that day.
      bundling: { bundleAwsSDK: true },
    });
    subscriber.addEventSource(
      new SqsEventSource(queue, { reportBatchItemFailures: true, maxConcurrency: CONCURRENCY }),
    );

    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'QueueUrl', { value: queue.queueUrl });
    new CfnOutput(this, 'DeadLettersUrl', { value: deadLetters.queueUrl });
    // Also for what SNS has put there itself, of which SQS knows no queue that it would go back to.
    new CfnOutput(this, 'Redrive', {
      value: `aws sqs start-message-move-task --source-arn ${deadLetters.queueArn} --destination-arn ${queue.queueArn}`,
    });
  }
}
