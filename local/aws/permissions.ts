import { isJsonObject, type JsonObject, textOf, textsOf } from './json.ts';
import { sourceOfTaskHandle } from './sqs/message-move-handle.ts';

/** What IAM asks of the caller's policies: an action on a resource, `*` where the action has none. */
export interface Permission {
  action: string;
  resource: string;
}

/** Where the one account's resources are, and the part of an ARN that only a store can tell. */
export interface Stack {
  region: string;
  accountId: string;
  /** The full ARN of a secret that exists, found by name, ARN or ARN without its suffix. */
  secretArn(secretId: string): string | undefined;
}

type ResourcesOf = (operation: string, parameters: JsonObject, stack: Stack) => string[];

const RESOURCES: Record<string, ResourcesOf> = {
  sqs: queues,
  sns: topics,
  dynamodb: tables,
  secretsmanager: secrets,
  logs: logGroups,
  firehose: deliveryStreams,
  monitoring: alarms,
  lambda: eventSourceMappings,
  sts: () => ['*'],
};

/** What IAM calls a service, where a signature calls it otherwise. */
const IAM_NAMES: Readonly<Record<string, string>> = { monitoring: 'cloudwatch' };

/** The permissions that a request of any service but S3 needs. */
export function permissionsOf(
  service: string,
  operation: string,
  parameters: JsonObject,
  stack: Stack,
): Permission[] {
  const action = `${IAM_NAMES[service] ?? service}:${iamAction(service, operation)}`;
  const resources = RESOURCES[service]?.(operation, parameters, stack) ?? [];
  return (resources.length === 0 ? ['*'] : resources).map((resource) => ({ action, resource }));
}

/** IAM knows no batch actions of SQS and SNS: each entry needs the action of the single one. */
function iamAction(service: string, operation: string): string {
  const isBatch = (service === 'sqs' || service === 'sns') && operation.endsWith('Batch');
  return isBatch ? operation.slice(0, -'Batch'.length) : operation;
}

function queues(_operation: string, parameters: JsonObject, stack: Stack): string[] {
  const source =
    textOf(parameters, 'SourceArn') ?? sourceOfTaskHandle(textOf(parameters, 'TaskHandle') ?? '');
  if (source !== undefined) return [source];
  const name = textOf(parameters, 'QueueUrl')?.split('/').at(-1) ?? textOf(parameters, 'QueueName');
  return name === undefined ? [] : [`arn:aws:sqs:${stack.region}:${stack.accountId}:${name}`];
}

function topics(_operation: string, parameters: JsonObject, stack: Stack): string[] {
  const named =
    textOf(parameters, 'TopicArn') ?? textOf(parameters, 'TargetArn') ?? textOf(parameters, 'ResourceArn');
  if (named !== undefined) return [named];
  const subscription = textOf(parameters, 'SubscriptionArn');
  if (subscription !== undefined) return [subscription.split(':').slice(0, 6).join(':')];
  const name = textOf(parameters, 'Name');
  return name === undefined ? [] : [`arn:aws:sns:${stack.region}:${stack.accountId}:${name}`];
}

function tables(_operation: string, parameters: JsonObject, stack: Stack): string[] {
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

function tableArn(nameOrArn: string, stack: Stack): string {
  if (nameOrArn.startsWith('arn:')) return nameOrArn;
  return `arn:aws:dynamodb:${stack.region}:${stack.accountId}:table/${nameOrArn}`;
}

function logGroups(_operation: string, parameters: JsonObject, stack: Stack): string[] {
  const identifier = textOf(parameters, 'logGroupIdentifier');
  if (identifier?.startsWith('arn:')) return [identifier];
  const name = textOf(parameters, 'logGroupName') ?? identifier;
  const names = name === undefined ? (textsOf(parameters, 'logGroupNames') ?? []) : [name];
  return names.map((each) => `arn:aws:logs:${stack.region}:${stack.accountId}:log-group:${each}:*`);
}

function deliveryStreams(_operation: string, parameters: JsonObject, stack: Stack): string[] {
  const name = textOf(parameters, 'DeliveryStreamName');
  return name === undefined
    ? []
    : [`arn:aws:firehose:${stack.region}:${stack.accountId}:deliverystream/${name}`];
}

function alarms(_operation: string, parameters: JsonObject, stack: Stack): string[] {
  const names = [textOf(parameters, 'AlarmName') ?? [], textsOf(parameters, 'AlarmNames') ?? []].flat();
  return names.map((name) => `arn:aws:cloudwatch:${stack.region}:${stack.accountId}:alarm:${name}`);
}

function eventSourceMappings(_operation: string, parameters: JsonObject, stack: Stack): string[] {
  const uuid = textOf(parameters, 'UUID');
  return uuid === undefined
    ? []
    : [`arn:aws:lambda:${stack.region}:${stack.accountId}:event-source-mapping:${uuid}`];
}

function secrets(operation: string, parameters: JsonObject, stack: Stack): string[] {
  const id = textOf(parameters, operation === 'CreateSecret' ? 'Name' : 'SecretId');
  if (id === undefined) return [];
  if (id.startsWith('arn:')) return [stack.secretArn(id) ?? id];
  return [stack.secretArn(id) ?? `arn:aws:secretsmanager:${stack.region}:${stack.accountId}:secret:${id}`];
}
