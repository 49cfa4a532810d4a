import { type JsonObject, textOf, textsOf } from './json.ts';
import { s3Permissions } from './s3.ts';
import { type AwsRequest, arnOf, type NeededPermission, type Service } from './service-forms.ts';

/** The full ARN of an existing secret, found by name, ARN, or ARN without its suffix. */
export type FindSecretArn = (secretId: string) => string | undefined;

/** @returns ARNs of resources, or the part of an ARN after the account */
type ResourcesOf = (parameters: JsonObject, secretArn: FindSecretArn, operation: string) => string[];

const RESOURCES: Record<Exclude<Service, 's3' | 'sts'>, ResourcesOf> = {
  sqs: queues,
  sns: topics,
  dynamodb: tables,
  secretsmanager: secrets,
  logs: logGroups,
  firehose: ({ DeliveryStreamName: name }) => (name === undefined ? [] : [`deliverystream/${name}`]),
  monitoring: ({ AlarmName: name, ...others }) =>
    [name ?? [], textsOf(others, 'AlarmNames') ?? []].flat().map((each) => `alarm:${each}`),
  cloudformation: ({ StackName: name }) => (name === undefined ? [] : [`stack/${name}/local`]),
  lambda: ({ UUID: uuid }) => (uuid === undefined ? [] : [`event-source-mapping:${uuid}`]),
};

export function permissionsOf(request: AwsRequest, secretArn: FindSecretArn): NeededPermission[] {
  const { service, operation, parameters } = request;
  // STS' GetCallerIdentity needs no permission. Source: STS API reference.
  if (service === 'sts') return [];
  if (service === 's3') return s3Permissions(request);
  const iamService = service === 'monitoring' ? 'cloudwatch' : service;
  const action = `${iamService}:${iamAction(service, operation)}`;
  const resources = RESOURCES[service](parameters, secretArn, operation).map((resource) =>
    resource.startsWith('arn:') ? resource : arnOf(iamService, resource),
  );
  return (resources.length === 0 ? ['*'] : resources).map((resource) => ({ action, resource }));
}

/** Name of the IAM action. SQS and SNS have no action for batches: each entry needs the action of a single call. */
function iamAction(service: Service, operation: string): string {
  return service === 'sqs' || service === 'sns' ? operation.replace(/Batch$/, '') : operation;
}

function queues(parameters: JsonObject): string[] {
  const name = textOf(parameters, 'QueueUrl')?.split('/').at(-1) ?? textOf(parameters, 'QueueName');
  return name === undefined ? [] : [name];
}

function topics(parameters: JsonObject): string[] {
  const topic =
    textOf(parameters, 'TopicArn') ?? textOf(parameters, 'TargetArn') ?? textOf(parameters, 'ResourceArn');
  if (topic !== undefined) return [topic];
  const subscription = textOf(parameters, 'SubscriptionArn');
  if (subscription !== undefined) return [subscription.split(':').slice(0, 6).join(':')];
  const name = textOf(parameters, 'Name');
  return name === undefined ? [] : [name];
}

function tables(parameters: JsonObject): string[] {
  const nameOrArn = textOf(parameters, 'TableName');
  if (nameOrArn === undefined) return [];
  const index = textOf(parameters, 'IndexName');
  const table = nameOrArn.startsWith('arn:') ? nameOrArn : `table/${nameOrArn}`;
  return [table + (index === undefined ? '' : `/index/${index}`)];
}

function logGroups(parameters: JsonObject): string[] {
  const identifier = textOf(parameters, 'logGroupIdentifier');
  if (identifier?.startsWith('arn:')) return [identifier];
  const name = textOf(parameters, 'logGroupName') ?? identifier;
  const names = name === undefined ? (textsOf(parameters, 'logGroupNames') ?? []) : [name];
  return names.map((each) => `log-group:${each}:*`);
}

function secrets(parameters: JsonObject, secretArn: FindSecretArn, operation: string): string[] {
  const id = textOf(parameters, operation === 'CreateSecret' ? 'Name' : 'SecretId');
  if (id === undefined) return [];
  return [secretArn(id) ?? (id.startsWith('arn:') ? id : `secret:${id}`)];
}
