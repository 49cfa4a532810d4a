import type { AwsEndpoint } from './aws/endpoint.ts';
import type { JsonObject } from './aws/json.ts';
import { SERVICES } from './aws/services.ts';
import { element } from './aws/xml.ts';
import { accessKeyOf, REGION } from './client-settings.ts';
import { type DeployedResource, type Resources, rolePolicies } from './template/resources.ts';

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
  const operator = operatorOf(aws.url);
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
        operator.json('firehose', 'CreateDeliveryStream', { DeliveryStreamName: name, ...properties }),
      ),
  ]);
  // The local stack has no metrics, so an alarm keeps the state that a command sets.
  for (const { name, properties } of resources.ofType('AWS::CloudWatch::Alarm')) {
    aws.putAlarm({ AlarmName: name, ...properties });
  }
  aws.addStack(resources.running());
  aws.addPrincipals(
    rolePolicies(resources).map(({ arn, logicalId, statements }) => ({
      name: logicalId,
      arn,
      accessKeyId: accessKeyOf(arn),
      statements,
    })),
  );
}

type Operator = ReturnType<typeof operatorOf>;

/** Calls the AWS endpoint with all permissions. Without AWS' clients, which take long to load. */
function operatorOf(url: string) {
  async function call(service: string, path: string, init: RequestInit): Promise<string> {
    const authorization = `AWS4-HMAC-SHA256 Credential=operator/-/${REGION}/${service}/aws4_request`;
    const answer = await fetch(`${url}${path}`, { ...init, headers: { authorization, ...init.headers } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${service} ${path}: ${text}`);
    return text;
  }
  return {
    async json(
      service: 'sqs' | 'dynamodb' | 'secretsmanager' | 'firehose',
      operation: string,
      input: object,
    ): Promise<JsonObject> {
      const headers = { 'x-amz-target': `${SERVICES[service].target}.${operation}` };
      return JSON.parse(await call(service, '/', { method: 'POST', headers, body: JSON.stringify(input) }));
    },
    form: (service: 'sns', fields: Record<string, string>) =>
      call(service, '/', { method: 'POST', body: new URLSearchParams(fields) }),
    put: (path: string, body?: string) => call('s3', path, { method: 'PUT', body: body ?? null }),
  };
}

async function createQueue(
  operator: Operator,
  { name, properties: { RedrivePolicy, ...plain } }: DeployedResource<'AWS::SQS::Queue'>,
): Promise<void> {
  const Attributes = {
    ...Object.fromEntries(Object.entries(plain).map(([attribute, value]) => [attribute, String(value)])),
    ...(RedrivePolicy && { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
  };
  await operator.json('sqs', 'CreateQueue', { QueueName: name, Attributes });
}

/**
 * Subscribes queues only: other subscribers, such as email addresses, must not be notified by a local stack.
 */
async function subscribe(
  operator: Operator,
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
  operator: Operator,
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
  operator: Operator,
  { name: TableName, properties }: DeployedResource<'AWS::DynamoDB::Table'>,
): Promise<void> {
  const { TimeToLiveSpecification, ...definition } = properties;
  const table = { TableName, BillingMode: 'PAY_PER_REQUEST', ...definition };
  await operator.json('dynamodb', 'CreateTable', table);
  if (TimeToLiveSpecification?.Enabled !== true) return;
  await operator.json('dynamodb', 'UpdateTimeToLive', { TableName, TimeToLiveSpecification });
}
