import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { PolicyStatement } from '../aws/authorization.ts';
import type { RunningStack } from '../aws/cloudformation/stacks.ts';
import { ACCOUNT_ID, arnOf } from '../aws/services.ts';
import { REGION } from '../client-settings.ts';
import type { SynthesisedStack } from './cloud-assembly.ts';
import { type References, resolveIntrinsics } from './intrinsics.ts';

/** Addresses of a local stack's endpoints. */
export interface StackLocation {
  /** `http://localhost:4566` */
  readonly awsUrl: string;
  /** `http://localhost:3000`: the API without a stage, whether HTTP or REST. */
  readonly apiUrl: string;
}

const strings = z.record(z.string(), z.string());

/** How a method of a REST API refers to its function. Group 1 is the function's ARN. */
export const INVOCATION_URI = /:lambda:path\/2015-03-31\/functions\/(arn:[^/]+)\/invocations$/;

const accessLog = z.object({ DestinationArn: z.string(), Format: z.string() });

/**
 * Schemas of the properties that the local stack uses, by resource type. A property value that the local stack cannot
 * run is invalid.
 */
const schemas = {
  'AWS::SQS::Queue': z.object({
    VisibilityTimeout: z.optional(z.number()),
    MessageRetentionPeriod: z.optional(z.number()),
    DelaySeconds: z.optional(z.number()),
    MaximumMessageSize: z.optional(z.number()),
    ReceiveMessageWaitTimeSeconds: z.optional(z.number()),
    RedrivePolicy: z.optional(z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.number() })),
    SqsManagedSseEnabled: z.optional(z.boolean()),
  }),
  'AWS::SNS::Topic': z.object({ DisplayName: z.optional(z.string()) }),
  'AWS::SNS::Subscription': z.object({
    Protocol: z.string(),
    TopicArn: z.string(),
    Endpoint: z.string(),
    FilterPolicy: z.optional(z.record(z.string(), z.unknown())),
    FilterPolicyScope: z.optional(z.enum(['MessageAttributes', 'MessageBody'])),
    RawMessageDelivery: z.optional(z.boolean()),
  }),
  'AWS::DynamoDB::Table': z.object({
    KeySchema: z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) })),
    AttributeDefinitions: z.array(
      z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) }),
    ),
    GlobalSecondaryIndexes: z.optional(
      z.array(
        z.object({
          IndexName: z.string(),
          KeySchema: z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) })),
          Projection: z.object({
            ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']),
            NonKeyAttributes: z.optional(z.array(z.string())),
          }),
        }),
      ),
    ),
    TimeToLiveSpecification: z.optional(z.object({ AttributeName: z.string(), Enabled: z.boolean() })),
  }),
  'AWS::S3::Bucket': z.object({
    LifecycleConfiguration: z.optional(
      z.object({
        Rules: z.array(
          z.object({
            Id: z.optional(z.string()),
            Status: z.enum(['Enabled', 'Disabled']),
            Prefix: z.optional(z.string()),
            ExpirationInDays: z.optional(z.number()),
            AbortIncompleteMultipartUpload: z.optional(z.object({ DaysAfterInitiation: z.number() })),
          }),
        ),
      }),
    ),
  }),
  'AWS::KinesisFirehose::DeliveryStream': z.object({
    DeliveryStreamType: z.literal('DirectPut'),
    DeliveryStreamEncryptionConfigurationInput: z.optional(
      z.object({
        KeyType: z.enum(['AWS_OWNED_CMK', 'CUSTOMER_MANAGED_CMK']),
        KeyARN: z.optional(z.string()),
      }),
    ),
    ExtendedS3DestinationConfiguration: z.object({
      RoleARN: z.string(),
      BucketARN: z.string(),
      Prefix: z.optional(z.string()),
      ErrorOutputPrefix: z.optional(z.string()),
      FileExtension: z.optional(z.string()),
      CompressionFormat: z.optional(z.enum(['GZIP', 'UNCOMPRESSED'])),
      BufferingHints: z.optional(
        z.object({ IntervalInSeconds: z.optional(z.number()), SizeInMBs: z.optional(z.number()) }),
      ),
    }),
  }),
  'AWS::SecretsManager::Secret': z.object({ Description: z.optional(z.string()) }),
  'AWS::Lambda::Function': z.object({
    Code: z.object({ S3Key: z.string() }),
    Handler: z.string(),
    Role: z.string(),
    Timeout: z._default(z.number(), 3),
    MemorySize: z._default(z.number(), 128),
    ReservedConcurrentExecutions: z.optional(z.number()),
    LoggingConfig: z.optional(z.object({ LogGroup: z.string() })),
    Environment: z._default(z.object({ Variables: z._default(strings, {}) }), { Variables: {} }),
  }),
  'AWS::Lambda::Version': z.object({ FunctionName: z.string() }),
  'AWS::Lambda::Alias': z.object({ FunctionName: z.string(), Name: z.string() }),
  'AWS::Lambda::EventSourceMapping': z.object({
    EventSourceArn: z.string(),
    FunctionName: z.string(),
    BatchSize: z._default(z.number(), 10),
    MaximumBatchingWindowInSeconds: z._default(z.number(), 0),
    FunctionResponseTypes: z._default(z.array(z.string()), []),
    ScalingConfig: z.optional(z.object({ MaximumConcurrency: z.optional(z.number()) })),
  }),
  'AWS::CloudWatch::Alarm': z.object({
    AlarmDescription: z.optional(z.string()),
    AlarmActions: z._default(z.array(z.string()), []),
    OKActions: z._default(z.array(z.string()), []),
    Namespace: z.optional(z.string()),
    MetricName: z.optional(z.string()),
    Dimensions: z.optional(z.array(z.object({ Name: z.string(), Value: z.string() }))),
    Statistic: z.optional(z.string()),
    ExtendedStatistic: z.optional(z.string()),
    Period: z.optional(z.number()),
    EvaluationPeriods: z.number(),
    DatapointsToAlarm: z.optional(z.number()),
    Threshold: z.optional(z.number()),
    ComparisonOperator: z.string(),
    TreatMissingData: z.optional(z.string()),
  }),
  'AWS::ApiGatewayV2::Api': z.object({ ProtocolType: z.literal('HTTP') }),
  'AWS::ApiGatewayV2::Stage': z.object({
    AccessLogSettings: z.optional(accessLog),
    DefaultRouteSettings: z.optional(
      z.object({
        ThrottlingRateLimit: z.optional(z.number()),
        ThrottlingBurstLimit: z.optional(z.number()),
      }),
    ),
  }),
  'AWS::ApiGatewayV2::Route': z.object({ RouteKey: z.string(), Target: z.string() }),
  'AWS::ApiGatewayV2::Integration': z.object({
    IntegrationType: z.literal('AWS_PROXY'),
    IntegrationUri: z.string(),
    PayloadFormatVersion: z.literal('2.0'),
    TimeoutInMillis: z.optional(z.number()),
  }),
  'AWS::ApiGateway::RestApi': z.object({ BinaryMediaTypes: z.tuple([z.literal('*/*')]) }),
  'AWS::ApiGateway::Resource': z.object({
    ParentId: z.string(),
    PathPart: z.string().check(z.regex(/^[^{}]+$/, 'must be exact')),
  }),
  'AWS::ApiGateway::Method': z.object({
    HttpMethod: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
    ResourceId: z.string(),
    AuthorizationType: z.literal('NONE'),
    ApiKeyRequired: z.optional(z.literal(false)),
    Integration: z.object({
      Type: z.literal('AWS_PROXY'),
      Uri: z.string().check(z.regex(INVOCATION_URI, 'must be of a Lambda function')),
      TimeoutInMillis: z.optional(z.number()),
    }),
  }),
  'AWS::ApiGateway::Stage': z.object({
    AccessLogSetting: z.optional(accessLog),
    StageName: z.string(),
    MethodSettings: z._default(
      z.array(
        z.object({
          HttpMethod: z.literal('*'),
          ResourcePath: z.literal('/*'),
          ThrottlingRateLimit: z.optional(z.number()),
          ThrottlingBurstLimit: z.optional(z.number()),
        }),
      ),
      [],
    ),
  }),
  'AWS::ApiGateway::GatewayResponse': z.object({
    ResponseType: z.string(),
    StatusCode: z.optional(z.string()),
    ResponseParameters: z._default(strings, {}),
    ResponseTemplates: z._default(z.strictObject({ 'application/json': z.optional(z.string()) }), {}),
  }),
  'AWS::IAM::Role': z.object({
    ManagedPolicyArns: z.optional(z.array(z.never())),
    Policies: z._default(z.array(z.object({ PolicyDocument: policyDocument() })), []),
  }),
  'AWS::IAM::Policy': z.object({ PolicyDocument: policyDocument(), Roles: z.array(z.string()) }),
} as const;

type Schemas = typeof schemas;

export type ResourceType = keyof Schemas;

/** Types with no part in the local stack: what they add exists in AWS only. */
const WITHOUT_LOCAL_PART = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::DomainName',
  'AWS::ApiGatewayV2::ApiMapping',
  'AWS::ApiGatewayV2::DomainName',
  'AWS::Athena::NamedQuery',
  'AWS::Athena::WorkGroup',
  'AWS::CDK::Metadata',
  'AWS::CloudWatch::Dashboard',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::Glue::Database',
  'AWS::Glue::Table',
  'AWS::KMS::Key',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::Logs::LogStream',
  'AWS::Logs::MetricFilter',
  'AWS::Logs::QueryDefinition',
  'AWS::Logs::ResourcePolicy',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::WAFv2::LoggingConfiguration',
  'AWS::WAFv2::WebACL',
  'AWS::WAFv2::WebACLAssociation',
  'Custom::SmokeTest',
]);

function policyDocument() {
  const oneOrMore = z.union([z.string(), z.array(z.string())]);
  const statement = z.strictObject({
    Sid: z.optional(z.string()),
    Effect: z.enum(['Allow', 'Deny']),
    Action: oneOrMore,
    Resource: oneOrMore,
    Condition: z.optional(z.record(z.string(), z.record(z.string(), oneOrMore))),
  });
  return z.object({ Statement: z.array(statement) });
}

/** Value of `AWS::URLSuffix`. */
const URL_SUFFIX = 'amazonaws.com';

/** Maximum characters of the name of a queue. Most other services allow more. */
const MAX_NAME_LENGTH = 80;

/** Maximum characters of a stream's name. Source: Firehose API reference, `CreateDeliveryStream`. */
const MAX_STREAM_NAME_LENGTH = 64;

/** Version of every function: only one exists locally. */
const ONLY_VERSION = '1';

export interface DeployedResource<Type extends ResourceType> {
  readonly logicalId: string;
  /** Name of the resource in the local stack. */
  readonly name: string;
  readonly arn: string;
  /** Value of `Ref` for this resource. */
  readonly ref: string;
  readonly properties: z.infer<Schemas[Type]>;
}

export type AnyResource = {
  [Type in keyof Schemas]: DeployedResource<Type> & { readonly type: Type };
}[keyof Schemas];

/** The resources of a synthesised stack, with their names and addresses in the local stack. */
export class Resources {
  readonly #stack: SynthesisedStack;
  readonly #location: StackLocation;
  readonly #secretArns = new Map<string, string>();

  constructor(stack: SynthesisedStack, location: StackLocation) {
    this.#stack = stack;
    this.#location = location;
  }

  /** Sets the ARN of a secret. Secrets Manager chooses its last characters on creation. */
  setSecretArn(logicalId: string, arn: string): void {
    this.#secretArns.set(logicalId, arn);
  }

  /**
   * The resources of one type.
   * @throws Error if the local stack cannot run a property
   */
  ofType<Type extends ResourceType>(type: Type): DeployedResource<Type>[] {
    return Object.entries(this.#stack.template.Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([logicalId, { Properties }]) => {
        const parsed = schemas[type].safeParse(this.#resolve(Properties));
        if (!parsed.success) {
          const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
          throw new Error(`The local stack cannot run ${type} ${logicalId}: ${problems.join('; ')}`);
        }
        return {
          logicalId,
          name: this.#name(logicalId),
          arn: this.#arn(logicalId),
          ref: this.#ref(logicalId) ?? '',
          properties: parsed.data as z.infer<Schemas[Type]>,
        };
      });
  }

  /**
   * The resources of all types that the local stack runs.
   * @throws Error as {@link ofType}
   */
  all(): AnyResource[] {
    return (Object.keys(schemas) as ResourceType[]).flatMap((type) =>
      this.ofType(type).map((resource) => ({ ...resource, type }) as AnyResource),
    );
  }

  outputs(): Record<string, string> {
    return Object.fromEntries(
      Object.entries(this.#stack.template.Outputs).map(([name, { Value }]) => [
        name,
        this.#here(String(this.#resolve(Value))),
      ]),
    );
  }

  /**
   * Replaces the address of a REST API by the local one. CloudFormation has no attribute for this address: templates
   * join the address from parts.
   */
  #here(text: string): string {
    return this.ofType('AWS::ApiGateway::RestApi').reduce(
      (url, { ref }) =>
        url.replace(`https://${ref}.execute-api.${REGION}.${URL_SUFFIX}`, this.#location.apiUrl),
      text,
    );
  }

  /** The stack in the form in which CloudFormation's API describes it. */
  running(): RunningStack {
    const { name, template } = this.#stack;
    return {
      name,
      id: this.#pseudoParameter('AWS::StackId') ?? '',
      template,
      resources: Object.entries(template.Resources).map(([logicalId, { Type }]) => ({
        logicalId,
        type: Type,
        physicalId: this.#ref(logicalId) ?? logicalId,
      })),
      outputs: () => this.outputs(),
    };
  }

  /** Resource types in the template that the local stack can neither run nor ignore. */
  unknownTypes(): string[] {
    const types = Object.values(this.#stack.template.Resources).map(({ Type }) => Type);
    return [...new Set(types)].filter((type) => !(type in schemas) && !WITHOUT_LOCAL_PART.has(type));
  }

  #resolve(value: unknown): unknown {
    return resolveIntrinsics(value, this.#references);
  }

  readonly #references: References = {
    ref: (name) => this.#pseudoParameter(name) ?? this.#ref(name),
    attribute: (logicalId, attribute) => this.#attribute(logicalId, attribute),
  };

  #pseudoParameter(name: string): string | undefined {
    const values: Record<string, string> = {
      'AWS::AccountId': ACCOUNT_ID,
      'AWS::Partition': 'aws',
      'AWS::Region': REGION,
      'AWS::StackId': arnOf('cloudformation', `stack/${this.#stack.name}/local`),
      'AWS::StackName': this.#stack.name,
      'AWS::URLSuffix': URL_SUFFIX,
    };
    return Object.hasOwn(values, name) ? values[name] : undefined;
  }

  #type(logicalId: string): string | undefined {
    const resources = this.#stack.template.Resources;
    return Object.hasOwn(resources, logicalId) ? resources[logicalId]?.Type : undefined;
  }

  /**
   * The name that CloudFormation would choose: stack and logical id, shortened to the service's limit, for S3
   * in lower case.
   */
  #name(logicalId: string): string {
    const name = `${this.#stack.name}-${logicalId}`;
    const type = this.#type(logicalId);
    // The template gives the log group of the access log a fixed name.
    if (type === 'AWS::Logs::LogGroup') return this.#optionalProperty(logicalId, 'LogGroupName') ?? name;
    if (type === 'AWS::S3::Bucket') return name.toLowerCase();
    const longest =
      type === 'AWS::KinesisFirehose::DeliveryStream' ? MAX_STREAM_NAME_LENGTH : MAX_NAME_LENGTH;
    if (name.length <= longest) return name;
    const suffix = `-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
    return name.slice(0, longest - suffix.length) + suffix;
  }

  #arn(logicalId: string): string {
    const type = this.#type(logicalId);
    const name = this.#name(logicalId);
    switch (type) {
      case 'AWS::SQS::Queue':
        return arnOf('sqs', name);
      case 'AWS::SNS::Topic':
        return arnOf('sns', name);
      case 'AWS::DynamoDB::Table':
        return arnOf('dynamodb', `table/${name}`);
      case 'AWS::KinesisFirehose::DeliveryStream':
        return arnOf('firehose', `deliverystream/${name}`);
      case 'AWS::Lambda::Function':
        return arnOf('lambda', `function:${name}`);
      case 'AWS::Lambda::Version':
        return `${this.#functionArn(logicalId)}:${ONLY_VERSION}`;
      case 'AWS::Lambda::Alias':
        return `${this.#functionArn(logicalId)}:${this.#property(logicalId, 'Name')}`;
      case 'AWS::Logs::LogGroup':
        return arnOf('logs', `log-group:${name}:*`);
      case 'AWS::KMS::Key':
        return arnOf('kms', `key/${name}`);
      case 'AWS::S3::Bucket':
        return `arn:aws:s3:::${name}`;
      case 'AWS::IAM::Role':
        return `arn:aws:iam::${ACCOUNT_ID}:role/${name}`;
      case 'AWS::SecretsManager::Secret':
        return this.#secretArns.get(logicalId) ?? '';
      default:
        return arnOf('local', name);
    }
  }

  /** ARN of the function that a version or an alias refers to. */
  #functionArn(logicalId: string): string {
    return arnOf('lambda', `function:${this.#property(logicalId, 'FunctionName')}`);
  }

  #property(logicalId: string, name: string): string {
    return String(this.#optionalProperty(logicalId, name));
  }

  #optionalProperty(logicalId: string, name: string): string | undefined {
    const value = this.#resolve(this.#stack.template.Resources[logicalId]?.Properties[name]);
    return value === undefined ? undefined : String(value);
  }

  #ref(logicalId: string): string | undefined {
    const name = this.#name(logicalId);
    switch (this.#type(logicalId)) {
      case undefined:
        return undefined;
      case 'AWS::SQS::Queue':
        return `${this.#location.awsUrl}/${ACCOUNT_ID}/${name}`;
      case 'AWS::SNS::Topic':
      case 'AWS::SecretsManager::Secret':
      case 'AWS::Lambda::Version':
      case 'AWS::Lambda::Alias':
        return this.#arn(logicalId);
      case 'AWS::ApiGateway::RestApi':
      case 'AWS::ApiGateway::Resource':
        return apiGatewayId(name);
      case 'AWS::ApiGateway::Stage':
        return this.#property(logicalId, 'StageName');
      default:
        return name;
    }
  }

  #attribute(logicalId: string, attribute: string): string | undefined {
    const type = this.#type(logicalId);
    if (attribute === 'Arn' || (type === 'AWS::SNS::Topic' && attribute === 'TopicArn'))
      return this.#arn(logicalId);
    if (type === 'AWS::ApiGatewayV2::Api' && attribute === 'ApiEndpoint') return this.#location.apiUrl;
    if (type === 'AWS::ApiGateway::RestApi' && attribute === 'RootResourceId')
      return apiGatewayId(`${this.#name(logicalId)}/`);
    if (type === 'AWS::Lambda::Version' && attribute === 'Version') return ONLY_VERSION;
    if (attribute === 'QueueName' || attribute === 'TopicName') return this.#name(logicalId);
    return undefined;
  }
}

/** An id in API Gateway's form: ten characters, derived from a name. */
function apiGatewayId(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 10);
}

/** A role with the statements of all its policies in the template. */
export interface RolePolicy {
  readonly arn: string;
  readonly logicalId: string;
  readonly statements: PolicyStatement[];
}

export function rolePolicies(resources: Resources): RolePolicy[] {
  const attached = resources.ofType('AWS::IAM::Policy');
  return resources.ofType('AWS::IAM::Role').map(({ arn, logicalId, ref, properties }) => ({
    arn,
    logicalId,
    statements: [
      ...properties.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement),
      ...attached
        .filter((policy) => policy.properties.Roles.includes(ref))
        .flatMap((policy) => policy.properties.PolicyDocument.Statement),
    ] as PolicyStatement[],
  }));
}
