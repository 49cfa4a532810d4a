import { isJsonObject, type JsonObject, textOf, textsOf } from './json.ts';
import { s3Permissions } from './s3/s3-request.ts';
import type { AwsRequest, Permission, Service } from './services.ts';
import { sourceOfTaskHandle } from './sqs/message-moves.ts';

/** Where the one account's resources are, and the part of an ARN that only a store knows. */
export interface Stack {
  region: string;
  accountId: string;
  /** The full ARN of a secret that exists, found by name, ARN or ARN without its suffix. */
  secretArn(secretId: string): string | undefined;
}

type ResourcesOf = (parameters: JsonObject, stack: Stack, operation: string) => string[];

const RESOURCES: Record<Exclude<Service, 's3' | 'sts'>, ResourcesOf> = {
  sqs: queues,
  sns: topics,
  dynamodb: tables,
  secretsmanager: secrets,
  logs: logGroups,
  firehose: named('DeliveryStreamName', 'firehose', 'deliverystream/'),
  monitoring: alarms,
  lambda: named('UUID', 'lambda', 'event-source-mapping:'),
};

/** The permissions that a request needs. */
export function permissionsOf(request: AwsRequest, stack: Stack): Permission[] {
  const { service, operation, parameters } = request;
  // GetCallerIdentity needs none. Source: STS API reference.
  if (service === 'sts') return [];
  if (service === 's3') return s3Permissions(request);
  const action = `${service === 'monitoring' ? 'cloudwatch' : service}:${iamAction(service, operation)}`;
  const resources = RESOURCES[service](parameters, stack, operation);
  return (resources.length === 0 ? ['*'] : resources).map((resource) => ({ action, resource }));
}

/** IAM has no batch actions of SQS and SNS: each entry needs the action of the single one. */
function iamAction(service: Service, operation: string): string {
  const isBatch = (service === 'sqs' || service === 'sns') && operation.endsWith('Batch');
  return isBatch ? operation.slice(0, -'Batch'.length) : operation;
}

function named(field: string, service: string, prefix: string): ResourcesOf {
  return (parameters, { region, accountId }) => {
    const name = textOf(parameters, field);
    return name === undefined ? [] : [`arn:aws:${service}:${region}:${accountId}:${prefix}${name}`];
  };
}

function queues(parameters: JsonObject, { region, accountId }: Stack): string[] {
  const source =
    textOf(parameters, 'SourceArn') ?? sourceOfTaskHandle(textOf(parameters, 'TaskHandle') ?? '');
  if (source !== undefined) return [source];
  const name = textOf(parameters, 'QueueUrl')?.split('/').at(-1) ?? textOf(parameters, 'QueueName');
  return name === undefined ? [] : [`arn:aws:sqs:${region}:${accountId}:${name}`];
}

function topics(parameters: JsonObject, { region, accountId }: Stack): string[] {
  const topic =
    textOf(parameters, 'TopicArn') ?? textOf(parameters, 'TargetArn') ?? textOf(parameters, 'ResourceArn');
  if (topic !== undefined) return [topic];
  const subscription = textOf(parameters, 'SubscriptionArn');
  if (subscription !== undefined) return [subscription.split(':').slice(0, 6).join(':')];
  const name = textOf(parameters, 'Name');
  return name === undefined ? [] : [`arn:aws:sns:${region}:${accountId}:${name}`];
}

function tables(parameters: JsonObject, stack: Stack): string[] {
  const resource = textOf(parameters, 'ResourceArn');
  if (resource !== undefined) return [resource];
  const table = textOf(parameters, 'TableName');
  if (table !== undefined) {
    const index = textOf(parameters, 'IndexName');
    return [tableArn(table, stack) + (index === undefined ? '' : `/index/${index}`)];
  }
  const items = parameters.RequestItems;
  return isJsonObject(items) ? Object.keys(items).map((name) => tableArn(name, stack)) : [];
}

function tableArn(nameOrArn: string, { region, accountId }: Stack): string {
  if (nameOrArn.startsWith('arn:')) return nameOrArn;
  return `arn:aws:dynamodb:${region}:${accountId}:table/${nameOrArn}`;
}

function logGroups(parameters: JsonObject, { region, accountId }: Stack): string[] {
  const identifier = textOf(parameters, 'logGroupIdentifier');
  if (identifier?.startsWith('arn:')) return [identifier];
  const name = textOf(parameters, 'logGroupName') ?? identifier;
  const names = name === undefined ? (textsOf(parameters, 'logGroupNames') ?? []) : [name];
  return names.map((each) => `arn:aws:logs:${region}:${accountId}:log-group:${each}:*`);
}

function alarms(parameters: JsonObject, { region, accountId }: Stack): string[] {
  const names = [textOf(parameters, 'AlarmName') ?? [], textsOf(parameters, 'AlarmNames') ?? []].flat();
  return names.map((name) => `arn:aws:cloudwatch:${region}:${accountId}:alarm:${name}`);
}

function secrets(parameters: JsonObject, stack: Stack, operation: string): string[] {
  const id = textOf(parameters, operation === 'CreateSecret' ? 'Name' : 'SecretId');
  if (id === undefined) return [];
  const arn = stack.secretArn(id);
  if (arn !== undefined || id.startsWith('arn:')) return [arn ?? id];
  return [`arn:aws:secretsmanager:${stack.region}:${stack.accountId}:secret:${id}`];
}
