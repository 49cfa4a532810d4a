import { createHash } from 'node:crypto';
import type { Principal } from '../aws/authorization.ts';
import type { JsonObject } from '../aws/json.ts';
import { ACCOUNT_ID, arnOf, REGION } from '../aws/service-forms.ts';
import type { RunningStack } from '../aws/stacks.ts';
import { accessKeyOf } from '../aws-caller.ts';
import type { SynthesisedStack } from './cloud-assembly.ts';
import { type References, resolveIntrinsics, WITH_ARN_AS_REF } from './intrinsics.ts';
import {
  checkedProperties,
  isResourceType,
  type ResourceProperties,
  type ResourceType,
} from './resource-properties.ts';

/** Addresses of a local stack's endpoints. */
export interface StackLocation {
  /** `http://localhost:4566` */
  readonly awsUrl: string;
  /** `http://localhost:3000`: the API without a stage, whether HTTP or REST. */
  readonly apiUrl: string;
}

/** Types with no part in the local stack: what they add exists in AWS only. */
const WITHOUT_LOCAL_PART = [
  'ApiGateway::Account ApiGateway::BasePathMapping ApiGateway::Deployment ApiGateway::DomainName',
  'ApiGatewayV2::ApiMapping ApiGatewayV2::DomainName Athena::WorkGroup CDK::Metadata',
  'CloudWatch::Dashboard CodeDeploy::Application CodeDeploy::DeploymentGroup Glue::Database Glue::Table KMS::Key',
  'Lambda::Permission Logs::LogGroup Logs::LogStream Logs::MetricFilter Logs::ResourcePolicy',
  'S3::BucketPolicy SNS::TopicPolicy SQS::QueuePolicy WAFv2::LoggingConfiguration WAFv2::WebACL',
  'WAFv2::WebACLAssociation',
].flatMap((types) => types.split(' ').map((type) => `AWS::${type}`));

const URL_SUFFIX = 'amazonaws.com';

/** Maximum characters of the name of a queue. Most other services allow more. */
const MAX_NAME_LENGTH = 80;

/** Maximum characters of a stream's name. Source: Firehose API reference, `CreateDeliveryStream`. */
const MAX_STREAM_NAME_LENGTH = 64;

/** Version of every function: only one exists locally. */
const ONLY_VERSION = '1';

/** @returns a property of the resource as text, with its references resolved */
type Property = (name: string) => string | undefined;

const functionArn = (property: Property) => arnOf('lambda', `function:${property('FunctionName')}`);

const ARNS: Readonly<Record<string, (name: string, property: Property) => string>> = {
  'AWS::SQS::Queue': (name) => arnOf('sqs', name),
  'AWS::SNS::Topic': (name) => arnOf('sns', name),
  'AWS::DynamoDB::Table': (name) => arnOf('dynamodb', `table/${name}`),
  'AWS::KinesisFirehose::DeliveryStream': (name) => arnOf('firehose', `deliverystream/${name}`),
  'AWS::Lambda::Function': (name) => arnOf('lambda', `function:${name}`),
  'AWS::Lambda::Version': (_, property) => `${functionArn(property)}:${ONLY_VERSION}`,
  'AWS::Lambda::Alias': (_, property) => `${functionArn(property)}:${property('Name')}`,
  'AWS::Logs::LogGroup': (name) => arnOf('logs', `log-group:${name}:*`),
  'AWS::KMS::Key': (name) => arnOf('kms', `key/${name}`),
  'AWS::S3::Bucket': (name) => `arn:aws:s3:::${name}`,
  'AWS::IAM::Role': (name) => `arn:aws:iam::${ACCOUNT_ID}:role/${name}`,
};

interface Addresses {
  /** Name of the resource in the local stack. */
  readonly name: string;
  readonly arn: string;
  /** Value of `Ref` for this resource. */
  readonly ref: string;
}

export interface DeployedResource<Type extends ResourceType> extends Addresses {
  readonly logicalId: string;
  readonly properties: ResourceProperties[Type];
}

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
      .map(([logicalId, { Properties = {} }]) => ({
        logicalId,
        ...(this.#find(logicalId) as Addresses),
        properties: checkedProperties(type, logicalId, this.#resolve(Properties) as JsonObject),
      }));
  }

  /**
   * The outputs, with local addresses. CloudFormation has no attribute for the address of a REST API: templates join it
   * from parts, so it is replaced here.
   */
  outputs(): Record<string, string> {
    const { apiUrl } = this.#location;
    const addresses = this.ofType('AWS::ApiGateway::RestApi').map(
      ({ ref }) => `https://${ref}.execute-api.${REGION}.${URL_SUFFIX}`,
    );
    const here = (text: string) => addresses.reduce((url, address) => url.replace(address, apiUrl), text);
    return Object.fromEntries(
      Object.entries(this.#stack.template.Outputs).map(([name, { Value }]) => [
        name,
        here(String(this.#resolve(Value))),
      ]),
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
        LogicalResourceId: logicalId,
        PhysicalResourceId: this.#find(logicalId)?.ref ?? logicalId,
        ResourceType: Type,
      })),
      outputs: () => this.outputs(),
    };
  }

  /** Resource types in the template that the local stack can neither run nor ignore. */
  unknownTypes(): string[] {
    const types = Object.values(this.#stack.template.Resources).map(({ Type }) => Type);
    return [...new Set(types)].filter(
      (type) => !isResourceType(type) && !type.startsWith('Custom::') && !WITHOUT_LOCAL_PART.includes(type),
    );
  }

  #resolve(value: unknown): unknown {
    return resolveIntrinsics(value, this.#references);
  }

  readonly #references: References = {
    ref: (name) => this.#pseudoParameter(name) ?? this.#find(name)?.ref,
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

  /** @returns undefined if the template has no such resource */
  #find(logicalId: string): (Addresses & { readonly type: string }) | undefined {
    const resources = this.#stack.template.Resources;
    const resource = Object.hasOwn(resources, logicalId) ? resources[logicalId] : undefined;
    if (resource === undefined) return undefined;
    const { Type: type, Properties = {} } = resource;
    const property = (name: string) => {
      const value = this.#resolve(Properties[name]);
      return value === undefined ? undefined : String(value);
    };
    // The template gives the log group of the access log a fixed name.
    const given = type === 'AWS::Logs::LogGroup' ? property('LogGroupName') : undefined;
    const name = given ?? nameOf(type, `${this.#stack.name}-${logicalId}`);
    const arn = this.#secretArns.get(logicalId) ?? ARNS[type]?.(name, property) ?? arnOf('local', name);
    return { type, name, arn, ref: this.#ref(type, name, property) ?? arn };
  }

  /** @returns undefined for a type whose `Ref` is the ARN */
  #ref(type: string, name: string, property: Property): string | undefined {
    switch (type) {
      case 'AWS::SQS::Queue':
        return `${this.#location.awsUrl}/${ACCOUNT_ID}/${name}`;
      case 'AWS::ApiGateway::RestApi':
      case 'AWS::ApiGateway::Resource':
        return apiGatewayId(name);
      case 'AWS::ApiGateway::Stage':
        return property('StageName');
      default:
        return WITH_ARN_AS_REF.includes(type) ? undefined : name;
    }
  }

  #attribute(logicalId: string, attribute: string): string | undefined {
    const found = this.#find(logicalId);
    if (found === undefined) return undefined;
    const { type, name, arn } = found;
    if (attribute === 'Arn' || (type === 'AWS::SNS::Topic' && attribute === 'TopicArn')) return arn;
    if (type === 'AWS::ApiGatewayV2::Api' && attribute === 'ApiEndpoint') return this.#location.apiUrl;
    if (type === 'AWS::ApiGateway::RestApi' && attribute === 'RootResourceId')
      return apiGatewayId(`${name}/`);
    if (type === 'AWS::Lambda::Version' && attribute === 'Version') return ONLY_VERSION;
    if (attribute === 'QueueName' || attribute === 'TopicName') return name;
    return undefined;
  }
}

/**
 * The name that CloudFormation would choose: stack and logical id, shortened to the service's limit, for S3 in lower
 * case.
 */
function nameOf(type: string, name: string): string {
  if (type === 'AWS::S3::Bucket') return name.toLowerCase();
  const longest = type === 'AWS::KinesisFirehose::DeliveryStream' ? MAX_STREAM_NAME_LENGTH : MAX_NAME_LENGTH;
  if (name.length <= longest) return name;
  const suffix = `-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
  return name.slice(0, longest - suffix.length) + suffix;
}

/** An id in API Gateway's form: ten characters, derived from a name. */
const apiGatewayId = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 10);

/** The roles of a template, with the statements of all their policies. */
export function rolesOf(resources: Resources): Principal[] {
  const attached = resources.ofType('AWS::IAM::Policy').map(({ properties }) => properties);
  return resources.ofType('AWS::IAM::Role').map(({ arn, logicalId, ref, properties: { Policies = [] } }) => ({
    name: logicalId,
    arn,
    accessKeyId: accessKeyOf(arn),
    statements: [...Policies, ...attached.filter(({ Roles }) => Roles.includes(ref))].flatMap(
      ({ PolicyDocument }) => PolicyDocument.Statement,
    ),
  }));
}
