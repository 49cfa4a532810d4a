import { isDeepStrictEqual } from 'node:util';
import type { PolicyStatement } from '../aws/authorization.ts';
import type { JsonObject } from '../aws/json.ts';

export interface Throttling {
  readonly ThrottlingRateLimit?: number;
  readonly ThrottlingBurstLimit?: number;
}

export interface AccessLogSettings {
  readonly DestinationArn: string;
  readonly Format: string;
}

interface LifecycleRule {
  readonly Id?: string;
  readonly Status: string;
  readonly Prefix?: string;
  readonly ExpirationInDays?: number;
  readonly AbortIncompleteMultipartUpload?: { readonly DaysAfterInitiation: number };
}

interface RolePolicies {
  readonly PolicyDocument: { readonly Statement: readonly PolicyStatement[] };
}

/** The properties that the local stack uses, by resource type. CDK has checked their types at synthesis. */
export interface ResourceProperties {
  readonly 'AWS::SQS::Queue': JsonObject;
  readonly 'AWS::SNS::Topic': JsonObject;
  readonly 'AWS::SNS::Subscription': {
    readonly Protocol: string;
    readonly TopicArn: string;
    readonly Endpoint: string;
    readonly FilterPolicy?: JsonObject;
    readonly FilterPolicyScope?: string;
    readonly RawMessageDelivery?: boolean;
  };
  readonly 'AWS::DynamoDB::Table': JsonObject;
  readonly 'AWS::S3::Bucket': {
    readonly LifecycleConfiguration?: { readonly Rules: readonly LifecycleRule[] };
  };
  readonly 'AWS::KinesisFirehose::DeliveryStream': JsonObject;
  readonly 'AWS::SecretsManager::Secret': { readonly Description?: string };
  readonly 'AWS::Lambda::Function': {
    readonly Code: { readonly S3Key: string };
    readonly Handler: string;
    readonly Role: string;
    readonly Timeout?: number;
    readonly MemorySize?: number;
    readonly ReservedConcurrentExecutions?: number;
    readonly LoggingConfig?: { readonly LogGroup: string };
    readonly Environment?: { readonly Variables?: Readonly<Record<string, string>> };
  };
  readonly 'AWS::Lambda::Version': JsonObject;
  readonly 'AWS::Lambda::Alias': { readonly FunctionName: string; readonly Name: string };
  readonly 'AWS::Lambda::EventSourceMapping': {
    readonly EventSourceArn: string;
    readonly FunctionName: string;
    readonly BatchSize?: number;
    readonly FunctionResponseTypes?: string[];
    readonly ScalingConfig?: { readonly MaximumConcurrency?: number };
  };
  readonly 'AWS::CloudWatch::Alarm': JsonObject;
  readonly 'AWS::ApiGatewayV2::Api': JsonObject;
  readonly 'AWS::ApiGatewayV2::Stage': {
    readonly AccessLogSettings?: AccessLogSettings;
    readonly DefaultRouteSettings?: Throttling;
  };
  readonly 'AWS::ApiGatewayV2::Route': { readonly RouteKey: string; readonly Target: string };
  readonly 'AWS::ApiGatewayV2::Integration': {
    readonly IntegrationUri: string;
    readonly TimeoutInMillis?: number;
  };
  readonly 'AWS::ApiGateway::RestApi': JsonObject;
  readonly 'AWS::ApiGateway::Resource': { readonly ParentId: string; readonly PathPart: string };
  readonly 'AWS::ApiGateway::Method': {
    readonly HttpMethod: string;
    readonly ResourceId: string;
    readonly Integration: { readonly Uri: string; readonly TimeoutInMillis?: number };
  };
  readonly 'AWS::ApiGateway::Stage': {
    readonly StageName: string;
    readonly AccessLogSetting?: AccessLogSettings;
    readonly MethodSettings?: readonly Throttling[];
  };
  readonly 'AWS::ApiGateway::GatewayResponse': {
    readonly ResponseType: string;
    readonly StatusCode?: string;
    readonly ResponseParameters?: Readonly<Record<string, string>>;
    readonly ResponseTemplates?: { readonly 'application/json'?: string };
  };
  readonly 'AWS::IAM::Role': { readonly Policies?: readonly RolePolicies[] };
  readonly 'AWS::IAM::Policy': RolePolicies & { readonly Roles: readonly string[] };
}

export type ResourceType = keyof ResourceProperties;

/** How a method of a REST API refers to its function. Group 1 is the function's ARN. */
export const INVOCATION_URI = /:lambda:path\/2015-03-31\/functions\/(arn:[^/]+)\/invocations$/;

type Check = (value: unknown) => boolean;

const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const matching =
  (pattern: RegExp): Check =>
  (value) =>
    pattern.test(String(value));
const hasOnly =
  (...names: readonly string[]): Check =>
  (value) =>
    Object.keys(value ?? {}).every((name) => names.includes(name));
const each =
  (check: Check): Check =>
  (values = []) =>
    (values as unknown[]).every(check);

const isStatement = hasOnly('Sid', 'Effect', 'Action', 'Resource', 'Condition');

/** The values of properties that the local stack can run, by resource type. Without a check: all. */
const CHECKS: Readonly<Record<ResourceType, Readonly<Record<string, Check>>>> = {
  'AWS::SQS::Queue': { FifoQueue: oneOf(undefined, false) },
  'AWS::SNS::Topic': { FifoTopic: oneOf(undefined, false) },
  'AWS::SNS::Subscription': {},
  'AWS::DynamoDB::Table': {},
  'AWS::S3::Bucket': {},
  'AWS::KinesisFirehose::DeliveryStream': {},
  'AWS::SecretsManager::Secret': {},
  'AWS::Lambda::Function': { 'Code.S3Key': (value) => value !== undefined },
  'AWS::Lambda::Version': {},
  'AWS::Lambda::Alias': {},
  'AWS::Lambda::EventSourceMapping': {
    // More than 10 need a batching window. Source: Lambda API reference, `CreateEventSourceMapping`.
    BatchSize: (value) => value === undefined || Number(value) <= 10,
    Enabled: oneOf(undefined, true),
    FilterCriteria: oneOf(undefined),
    MaximumBatchingWindowInSeconds: oneOf(undefined, 0),
  },
  'AWS::CloudWatch::Alarm': {},
  'AWS::ApiGatewayV2::Api': { ProtocolType: oneOf('HTTP') },
  'AWS::ApiGatewayV2::Stage': {},
  'AWS::ApiGatewayV2::Route': { AuthorizationType: oneOf(undefined, 'NONE') },
  'AWS::ApiGatewayV2::Integration': {
    IntegrationType: oneOf('AWS_PROXY'),
    PayloadFormatVersion: oneOf('2.0'),
  },
  'AWS::ApiGateway::RestApi': { BinaryMediaTypes: (value) => isDeepStrictEqual(value, ['*/*']) },
  'AWS::ApiGateway::Resource': { PathPart: matching(/^[^{}]+$/) },
  'AWS::ApiGateway::Method': {
    HttpMethod: oneOf('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
    AuthorizationType: oneOf('NONE'),
    ApiKeyRequired: oneOf(undefined, false),
    'Integration.Type': oneOf('AWS_PROXY'),
    'Integration.Uri': matching(INVOCATION_URI),
  },
  'AWS::ApiGateway::Stage': {
    MethodSettings: each(
      (settings) =>
        (settings as JsonObject).HttpMethod === '*' && (settings as JsonObject).ResourcePath === '/*',
    ),
  },
  'AWS::ApiGateway::GatewayResponse': { ResponseTemplates: hasOnly('application/json') },
  'AWS::IAM::Role': {
    ManagedPolicyArns: each(() => false),
    Policies: each((policy) => each(isStatement)((policy as RolePolicies).PolicyDocument.Statement)),
  },
  'AWS::IAM::Policy': { 'PolicyDocument.Statement': each(isStatement) },
};

export const isResourceType = (type: string): type is ResourceType => Object.hasOwn(CHECKS, type);

/** @throws Error that names the properties that the local stack cannot run */
export function checkedProperties<Type extends ResourceType>(
  type: Type,
  logicalId: string,
  properties: JsonObject,
): ResourceProperties[Type] {
  for (const [path, check] of Object.entries(CHECKS[type])) {
    const value = path
      .split('.')
      .reduce<unknown>((of, name) => (of as JsonObject | undefined)?.[name], properties);
    if (check(value)) continue;
    throw new Error(`The local stack cannot run ${type} ${logicalId}: ${path} is ${JSON.stringify(value)}`);
  }
  return properties as unknown as ResourceProperties[Type];
}
