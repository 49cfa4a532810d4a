import { AthenaClient, ListDatabasesCommand, ListWorkGroupsCommand } from '@aws-sdk/client-athena';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { FirehoseClient, ListDeliveryStreamsCommand } from '@aws-sdk/client-firehose';
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { ListSecretsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListSubscriptionsCommand, ListTopicsCommand, SNSClient } from '@aws-sdk/client-sns';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { ClientSettings } from './emulator.ts';

/** What there is in the emulator besides what `cdk bootstrap` made: `queue https://…`. */
export async function left(settings: ClientSettings): Promise<string[]> {
  const sns = new SNSClient(settings);
  const athena = new AthenaClient(settings);
  const [
    stacks,
    tables,
    functions,
    buckets,
    secrets,
    topics,
    subscriptions,
    queues,
    streams,
    workgroups,
    databases,
  ] = await Promise.all([
    new CloudFormationClient(settings).send(new DescribeStacksCommand()),
    new DynamoDBClient(settings).send(new ListTablesCommand()),
    new LambdaClient(settings).send(new ListFunctionsCommand()),
    new S3Client(settings).send(new ListBucketsCommand()),
    new SecretsManagerClient(settings).send(new ListSecretsCommand()),
    sns.send(new ListTopicsCommand()),
    sns.send(new ListSubscriptionsCommand()),
    new SQSClient(settings).send(new ListQueuesCommand()),
    new FirehoseClient(settings).send(new ListDeliveryStreamsCommand()),
    athena.send(new ListWorkGroupsCommand()),
    athena.send(new ListDatabasesCommand({ CatalogName: 'AwsDataCatalog' })),
  ]);
  const names = {
    stack: stacks.Stacks?.map(({ StackName }) => StackName).filter((name) => name !== 'CDKToolkit'),
    table: tables.TableNames,
    function: functions.Functions?.map(({ FunctionName }) => FunctionName),
    bucket: buckets.Buckets?.map(({ Name }) => Name).filter((name) => !name?.startsWith('cdk-')),
    secret: secrets.SecretList?.map(({ Name }) => Name),
    topic: topics.Topics?.map(({ TopicArn }) => TopicArn),
    subscription: subscriptions.Subscriptions?.map(({ SubscriptionArn }) => SubscriptionArn),
    queue: queues.QueueUrls,
    'delivery-stream': streams.DeliveryStreamNames,
    workgroup: workgroups.WorkGroups?.map(({ Name }) => Name).filter((name) => name !== 'primary'),
    database: databases.DatabaseList?.map(({ Name }) => Name),
  };
  return Object.entries(names).flatMap(([kind, list = []]) => list.map((name) => `${kind} ${name}`));
}
