import type { AwsEndpoint } from './aws/endpoint.ts';
import { isJsonObject, type JsonObject } from './aws/json.ts';
import { element } from './aws/response.ts';
import { type AwsCaller, awsCaller } from './aws-caller.ts';
import { type DeployedResource, type Resources, rolesOf } from './template/resources.ts';

/**
 * Creates the resources of a template at the AWS endpoint.
 * @param secret value of each secret
 * @throws Error if a resource cannot be created
 */
export async function deploy(
  resources: Resources,
  aws: Pick<AwsEndpoint, 'url' | 'putAlarm' | 'addPrincipals' | 'addStack'>,
  secret: string,
): Promise<void> {
  const operator = awsCaller(aws.url, 'operator');
  await Promise.all([
    ...resources.ofType('AWS::SQS::Queue').map((queue) => createQueue(operator, queue)),
    ...resources
      .ofType('AWS::SNS::Topic')
      .map(({ name }) => operator.form('sns', { Action: 'CreateTopic', Name: name })),
    ...resources.ofType('AWS::S3::Bucket').map((bucket) => createBucket(operator, bucket)),
    ...resources.ofType('AWS::DynamoDB::Table').map((table) => createTable(operator, table)),
    ...resources
      .ofType('AWS::SecretsManager::Secret')
      .map(async ({ logicalId, name, properties: { Description } }) => {
        const input = { Name: name, SecretString: secret, Description };
        const { ARN } = await operator.json('secretsmanager', 'CreateSecret', input);
        resources.setSecretArn(logicalId, String(ARN));
      }),
  ]);
  await Promise.all([
    ...resources.ofType('AWS::SNS::Subscription').map((one) => subscribe(operator, one)),
    ...resources
      .ofType('AWS::KinesisFirehose::DeliveryStream')
      .map(({ name, properties }) =>
        operator.json('firehose', 'CreateDeliveryStream', { ...properties, DeliveryStreamName: name }),
      ),
  ]);
  // The local stack has no metrics, so an alarm keeps the state that a command sets.
  for (const { name, properties } of resources.ofType('AWS::CloudWatch::Alarm')) {
    aws.putAlarm({ ...properties, AlarmName: name });
  }
  aws.addStack(resources.running());
  aws.addPrincipals(rolesOf(resources));
}

/** Properties that are attributes of a queue here. */
const QUEUE_ATTRIBUTES = [
  'VisibilityTimeout MessageRetentionPeriod DelaySeconds MaximumMessageSize ReceiveMessageWaitTimeSeconds',
  'RedrivePolicy SqsManagedSseEnabled',
].flatMap((names) => names.split(' '));

async function createQueue(
  operator: AwsCaller,
  { name, properties }: DeployedResource<'AWS::SQS::Queue'>,
): Promise<void> {
  const Attributes = Object.fromEntries(
    Object.entries(pick(properties, QUEUE_ATTRIBUTES)).map(([attribute, value]) => [
      attribute,
      isJsonObject(value) ? JSON.stringify(value) : String(value),
    ]),
  );
  await operator.json('sqs', 'CreateQueue', { QueueName: name, Attributes });
}

const pick = (properties: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name)));

/**
 * Subscribes queues only: other subscribers, such as email addresses, must not be notified by a local stack.
 */
async function subscribe(
  operator: AwsCaller,
  { properties }: DeployedResource<'AWS::SNS::Subscription'>,
): Promise<void> {
  const { Protocol, TopicArn, Endpoint, FilterPolicy, FilterPolicyScope, RawMessageDelivery } = properties;
  if (Protocol !== 'sqs') return;
  const attributes = Object.entries({
    ...(FilterPolicy && { FilterPolicy: JSON.stringify(FilterPolicy) }),
    ...(FilterPolicyScope && { FilterPolicyScope }),
    ...(RawMessageDelivery && { RawMessageDelivery: 'true' }),
  }).flatMap(([key, value], index) => [
    [`Attributes.entry.${index + 1}.key`, key],
    [`Attributes.entry.${index + 1}.value`, value],
  ]);
  const fields = { Action: 'Subscribe', TopicArn, Protocol, Endpoint };
  await operator.form('sns', { ...fields, ...Object.fromEntries(attributes) });
}

/** Creates a bucket. Its lifecycle rules can be read, but no object expires while a local stack runs. */
async function createBucket(
  operator: AwsCaller,
  { name, properties: { LifecycleConfiguration } }: DeployedResource<'AWS::S3::Bucket'>,
): Promise<void> {
  await operator.put(`/${name}`);
  if (LifecycleConfiguration === undefined) return;
  const rules = LifecycleConfiguration.Rules.map(
    ({ Id, Status, Prefix = '', ExpirationInDays: days, AbortIncompleteMultipartUpload: abort }) =>
      [
        '<Rule>',
        Id === undefined ? '' : element('ID', Id),
        `<Filter>${element('Prefix', Prefix)}</Filter>`,
        element('Status', Status),
        days === undefined ? '' : `<Expiration>${element('Days', String(days))}</Expiration>`,
        abort === undefined
          ? ''
          : `<AbortIncompleteMultipartUpload>${element('DaysAfterInitiation', String(abort.DaysAfterInitiation))}</AbortIncompleteMultipartUpload>`,
        '</Rule>',
      ].join(''),
  );
  await operator.put(
    `/${name}?lifecycle`,
    `<LifecycleConfiguration>${rules.join('')}</LifecycleConfiguration>`,
  );
}

async function createTable(
  operator: AwsCaller,
  { name: TableName, properties }: DeployedResource<'AWS::DynamoDB::Table'>,
): Promise<void> {
  const definition = pick(properties, ['KeySchema', 'AttributeDefinitions', 'GlobalSecondaryIndexes']);
  const input = { TableName, BillingMode: 'PAY_PER_REQUEST', ...definition };
  await operator.json('dynamodb', 'CreateTable', input);
}
