import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { ListSecretsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListSubscriptionsCommand, ListTopicsCommand, SNSClient } from '@aws-sdk/client-sns';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';

/**
 * Prints what there is besides what `cdk bootstrap` made, a line each: for an account in which there should
 * be nothing else. A process of its own, as Node.js reads which certificates to trust when it starts.
 */
const sns = new SNSClient();
const [stacks, tables, functions, buckets, secrets, topics, subscriptions, queues] = await Promise.all([
  new CloudFormationClient().send(new DescribeStacksCommand()),
  new DynamoDBClient().send(new ListTablesCommand()),
  new LambdaClient().send(new ListFunctionsCommand()),
  new S3Client().send(new ListBucketsCommand()),
  new SecretsManagerClient().send(new ListSecretsCommand()),
  sns.send(new ListTopicsCommand()),
  sns.send(new ListSubscriptionsCommand()),
  new SQSClient().send(new ListQueuesCommand()),
]);
const left = {
  stack: stacks.Stacks?.map(({ StackName }) => StackName).filter((name) => name !== 'CDKToolkit'),
  table: tables.TableNames,
  function: functions.Functions?.map(({ FunctionName }) => FunctionName),
  bucket: buckets.Buckets?.map(({ Name }) => Name).filter((name) => !name?.startsWith('cdk-')),
  secret: secrets.SecretList?.map(({ Name }) => Name),
  topic: topics.Topics?.map(({ TopicArn }) => TopicArn),
  subscription: subscriptions.Subscriptions?.map(({ SubscriptionArn }) => SubscriptionArn),
  queue: queues.QueueUrls,
};
for (const [kind, names = []] of Object.entries(left)) {
  for (const name of names) console.log(`${kind} ${name}`);
}
