// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub has the placeholders of a template string.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { arnOf } from '../aws/service-forms.ts';
import { awsCaller } from '../aws-caller.ts';
import { deploy } from '../deploy.ts';
import { deployStack } from '../deployed-stack.ts';
import { readCloudAssembly, type StackTemplate } from '../template/cloud-assembly.ts';
import { resolveIntrinsics } from '../template/intrinsics.ts';
import { Resources, rolesOf } from '../template/resources.ts';
import { send, signedFor, startEndpoint } from './support.ts';

/** Writes a cloud assembly with one stack and one asset. @returns its folder, and a function that writes a file */
function assembly(template: object) {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-assembly-'));
  const write = (file: string, value: object) => writeFileSync(join(folder, file), JSON.stringify(value));
  const Hooks = { type: 'aws:cloudformation:stack', properties: { templateFile: 'Hooks.template.json' } };
  const asset = { source: { path: 'asset.f00d' }, destinations: { here: { objectKey: 'f00d.zip' } } };
  write('Hooks.template.json', template);
  write('Hooks.assets.json', { files: { f00d: asset } });
  write('manifest.json', { artifacts: { Hooks, 'Hooks.assets': { type: 'cdk:asset-manifest' } } });
  return { folder, write, Hooks, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

test('a cloud assembly has the name, the resources and the assets of its only stack', () => {
  const template = { Resources: { Delayed: { Type: 'AWS::SQS::Queue', Properties: { DelaySeconds: 1 } } } };
  using written = assembly(template);
  const { folder, write, Hooks } = written;
  const { assetFolder, ...stack } = readCloudAssembly(folder);
  expect(stack).toEqual({ name: 'Hooks', template: { ...template, Outputs: {} } });
  expect(assetFolder('f00d.zip')).toBe(join(folder, 'asset.f00d'));
  expect(() => assetFolder('beef.zip')).toThrow(`No asset beef.zip in ${folder}`);
  for (const artifacts of [{ Tree: { type: 'cdk:tree' } }, { Hooks, Others: Hooks }]) {
    write('manifest.json', { artifacts });
    expect(() => readCloudAssembly(folder)).toThrow(`Expected one stack in ${folder}, found `);
  }
});

describe('an intrinsic function', () => {
  const refs: Record<string, string> = { Queue: 'http://localhost/queue', 'AWS::Region': 'us-east-1' };
  const attributes: Record<string, string> = { 'Queue.Arn': 'arn:aws:sqs:queue' };
  const resolve = (value: unknown) =>
    resolveIntrinsics(value, {
      ref: (name) => refs[name],
      attribute: (resource, attribute) => attributes[`${resource}.${attribute}`],
    });

  test.each([
    { given: ['plain', 7, null, false, {}], expected: ['plain', 7, null, false, {}] },
    { given: { Ref: 'Queue' }, expected: 'http://localhost/queue' },
    // An object with other keys besides `Ref` is no intrinsic function.
    { given: { Ref: 'Queue', Type: 'x' }, expected: { Ref: 'Queue', Type: 'x' } },
    { given: { 'Fn::GetAtt': ['Queue', 'Arn'] }, expected: 'arn:aws:sqs:queue' },
    { given: { 'Fn::Join': ['/', ['a', { Ref: 'AWS::Region' }]] }, expected: 'a/us-east-1' },
    {
      given: { 'Fn::Select': [3, { 'Fn::Split': [':', { 'Fn::GetAtt': ['Queue', 'Arn'] }] }] },
      expected: 'queue',
    },
    { given: { 'Fn::Sub': '<${Queue}>' }, expected: '<http://localhost/queue>' },
    { given: { 'Fn::Sub': 'assets-${AWS::Region}' }, expected: 'assets-us-east-1' },
    { given: { a: { Ref: 'AWS::NoValue' }, b: 1 }, expected: { b: 1 } },
    { given: [{ Ref: 'AWS::NoValue' }, 1], expected: [1] },
    { given: { Ref: 'AWS::NoValue' }, expected: undefined },
    { given: { a: [{ b: { Ref: 'Queue' } }] }, expected: { a: [{ b: 'http://localhost/queue' }] } },
  ])('is evaluated: $given', ({ given, expected }) => {
    expect(resolve(given)).toEqual(expected);
  });

  test.each([
    { given: { 'Fn::ImportValue': 'x' }, message: 'does not know Fn::ImportValue' },
    { given: { Ref: 'Bucket' }, message: 'does not have: Ref Bucket' },
    { given: { 'Fn::GetAtt': ['Queue', 'Colour'] }, message: 'does not have: Fn::GetAtt Queue.Colour' },
    { given: { 'Fn::Sub': '${Bucket}' }, message: 'does not have: Ref Bucket' },
    { given: { 'Fn::Sub': '${Queue.Arn}' }, message: 'does not know this form of Fn::Sub' },
    { given: { 'Fn::Sub': ['${A}', { A: 'a' }] }, message: 'does not know this form of Fn::Sub' },
  ])('that cannot be evaluated is named: $given', ({ given, message }) => {
    expect(() => resolve(given)).toThrow(message);
  });
});

type Declared = { Type: string; Properties?: Record<string, unknown> };

function resourcesOf(declared: Record<string, Declared>, outputs: Record<string, { Value: unknown }> = {}) {
  const stack = { name: 'Hooks', template: { Resources: declared, Outputs: outputs }, assetFolder: String };
  return new Resources(stack, { awsUrl: 'http://localhost:4566', apiUrl: 'http://localhost:3000' });
}

/** Evaluates a part of a template that declares these resources. */
function evaluate(declared: Record<string, Declared>, value: unknown): string | undefined {
  return resourcesOf(declared, { Answer: { Value: value } }).outputs().Answer;
}

const queue = { Type: 'AWS::SQS::Queue' };
const REF = 'Ref';

test.each<[type: string, attribute: string, expected: string]>([
  ['SQS::Queue', REF, 'http://localhost:4566/000000000000/Hooks-It'],
  ['SQS::Queue', 'QueueName', 'Hooks-It'],
  ['SNS::Topic', REF, arnOf('sns', 'Hooks-It')],
  ['SNS::Topic', 'TopicName', 'Hooks-It'],
  ['DynamoDB::Table', REF, 'Hooks-It'],
  // Names of buckets are in lower case.
  ['S3::Bucket', REF, 'hooks-it'],
  ['S3::Bucket', 'Arn', 'arn:aws:s3:::hooks-it'],
  ['Logs::LogGroup', 'Arn', arnOf('logs', 'log-group:Hooks-It:*')],
  ['KMS::Key', 'Arn', arnOf('kms', 'key/Hooks-It')],
  ['ApiGatewayV2::Api', 'ApiEndpoint', 'http://localhost:3000'],
])('a reference to %s gives as %s %s', (type, attribute, expected) => {
  const value = attribute === REF ? { Ref: 'It' } : { 'Fn::GetAtt': ['It', attribute] };
  expect(evaluate({ It: { Type: `AWS::${type}` } }, value)).toBe(expected);
});

describe('a reference', () => {
  test.each([
    // Names of queues have at most 80 characters, and those of streams at most 64.
    { type: 'AWS::SQS::Queue', length: 74, expected: /^Hooks-R{74}$/ },
    { type: 'AWS::SQS::Queue', length: 75, expected: /^Hooks-R{61}-[0-9a-f]{12}$/ },
    { type: 'AWS::KinesisFirehose::DeliveryStream', length: 200, expected: /^Hooks-R{45}-[0-9a-f]{12}$/ },
  ])('to $type with a logical id of $length characters has a short name', ({ type, length, expected }) => {
    const logicalId = 'R'.repeat(length);
    const found = evaluate({ [logicalId]: { Type: type } }, { 'Fn::GetAtt': [logicalId, 'Arn'] });
    expect(found?.split(/[:/]/).at(-1)).toMatch(expected);
  });

  test('to a pseudo parameter is resolved', () => {
    const names = ['AccountId', 'Partition', 'Region', 'StackName', 'URLSuffix'];
    const refs = names.map((name) => ({ Ref: `AWS::${name}` }));
    expect(evaluate({}, { 'Fn::Join': [' ', refs] })).toBe('000000000000 aws us-east-1 Hooks amazonaws.com');
  });

  test.each([
    { value: { Ref: 'Other' }, named: 'Ref Other' },
    { value: { Ref: 'constructor' }, named: 'Ref constructor' },
    { value: { 'Fn::GetAtt': ['It', 'Colour'] }, named: 'Fn::GetAtt It.Colour' },
  ])('that does not exist is refused: $named', ({ value, named }) => {
    expect(() => evaluate({ It: queue }, value)).toThrow(named);
  });
});

describe('the resources of a type', () => {
  const method = {
    HttpMethod: 'POST',
    ResourceId: 'hook',
    AuthorizationType: 'NONE',
    Integration: {
      Type: 'AWS_PROXY',
      Uri: 'arn:aws:apigateway:r:lambda:path/2015-03-31/functions/arn:aws:lambda:r:0:function:f/invocations',
    },
  };
  const SOURCE = 'AWS::Lambda::EventSourceMapping';
  const integration = { IntegrationType: 'AWS_PROXY', IntegrationUri: 'arn', PayloadFormatVersion: '1.0' };
  const ofQueue = { Type: 'AWS_PROXY', Uri: 'arn:aws:apigateway:r:sqs:path/queue' };
  const ofOne = { HttpMethod: 'POST', ResourcePath: '/~1hook', ThrottlingRateLimit: 1 };
  const asXml = { ResponseType: 'THROTTLED', ResponseTemplates: { 'application/xml': '<a/>' } };
  const without = { Statement: [{ Effect: 'Allow', NotAction: 'sqs:*', Resource: 'b' }] };

  test.each<[type: string, properties: Record<string, unknown>, property: string]>([
    ['AWS::SQS::Queue', { FifoQueue: true }, 'FifoQueue'],
    ['AWS::SNS::Topic', { FifoTopic: true }, 'FifoTopic'],
    [SOURCE, { BatchSize: 11 }, 'BatchSize'],
    [SOURCE, { Enabled: false }, 'Enabled'],
    [SOURCE, { FilterCriteria: { Filters: [] } }, 'FilterCriteria'],
    [SOURCE, { MaximumBatchingWindowInSeconds: 1 }, 'MaximumBatchingWindowInSeconds'],
    ['AWS::ApiGatewayV2::Route', { AuthorizationType: 'JWT' }, 'AuthorizationType'],
    ['AWS::ApiGatewayV2::Api', { ProtocolType: 'WEBSOCKET' }, 'ProtocolType'],
    ['AWS::ApiGatewayV2::Integration', integration, 'PayloadFormatVersion'],
    ['AWS::ApiGateway::RestApi', { BinaryMediaTypes: ['image/png'] }, 'BinaryMediaTypes'],
    ['AWS::ApiGateway::Resource', { ParentId: 'root', PathPart: '{proxy+}' }, 'PathPart'],
    ['AWS::ApiGateway::Method', { ...method, AuthorizationType: 'CUSTOM' }, 'AuthorizationType'],
    ['AWS::ApiGateway::Method', { ...method, Integration: ofQueue }, 'Integration.Uri'],
    ['AWS::ApiGateway::Stage', { StageName: 'api', MethodSettings: [ofOne] }, 'MethodSettings'],
    ['AWS::ApiGateway::GatewayResponse', asXml, 'ResponseTemplates'],
    ['AWS::IAM::Role', { ManagedPolicyArns: ['arn:aws:iam::aws:policy/A'] }, 'ManagedPolicyArns'],
    ['AWS::IAM::Policy', { Roles: ['r'], PolicyDocument: without }, 'PolicyDocument.Statement'],
    ['AWS::Lambda::Function', { Code: { ZipFile: '' }, Handler: 'a.b', Role: 'arn' }, 'Code.S3Key'],
  ])('are refused if they cannot be run: %s with %j', (Type, Properties, property) => {
    const read = () => resourcesOf({ Culprit: { Type, Properties } }).ofType(Type as 'AWS::SQS::Queue');
    expect(read).toThrow(`The local stack cannot run ${Type} Culprit: ${property} is `);
  });

  test('that the local stack does not know are listed once, except those that need nothing to run', () => {
    const resources = resourcesOf({
      Bus: { Type: 'AWS::Events::EventBus' },
      Other: { Type: 'AWS::Events::EventBus' },
      Queue: queue,
      Key: { Type: 'AWS::KMS::Key' },
      Alarm: { Type: 'AWS::CloudWatch::Alarm' },
      Table: { Type: 'AWS::Glue::Table' },
      Questions: { Type: 'AWS::Athena::WorkGroup' },
    });
    expect(resources.unknownTypes()).toEqual(['AWS::Events::EventBus']);
  });
});

test('the policies of a role are its own and those that name it', () => {
  const reviews = { 'Fn::GetAtt': ['Reviews', 'Arn'] };
  const statement = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: reviews };
  const PolicyDocument = { Statement: [statement] };
  const evaluated = { ...statement, Resource: 'arn:aws:sqs:us-east-1:000000000000:Hooks-Reviews' };
  const roles = rolesOf(
    resourcesOf({
      Reviews: queue,
      Sender: { Type: 'AWS::IAM::Role', Properties: { Policies: [{ PolicyDocument }] } },
      Other: { Type: 'AWS::IAM::Role' },
      Attached: { Type: 'AWS::IAM::Policy', Properties: { Roles: [{ Ref: 'Sender' }], PolicyDocument } },
    }),
  );
  const arn = 'arn:aws:iam::000000000000:role/Hooks';
  expect(roles).toMatchObject([
    { arn: `${arn}-Sender`, name: 'Sender', statements: [evaluated, evaluated] },
    { arn: `${arn}-Other`, name: 'Other', statements: [] },
  ]);
});

let aws: Awaited<ReturnType<typeof startEndpoint>>;
beforeAll(async () => {
  aws = await startEndpoint();
});
afterAll(() => aws.close());

const deployed = (template: StackTemplate['Resources']) => {
  const stack = { name: 'Stack', template: { Resources: template, Outputs: {} }, assetFolder: () => '' };
  return deploy(new Resources(stack, { awsUrl: aws.url, apiUrl: '' }), aws, 'the secret');
};

test('resources have the settings of the template', async () => {
  const RedrivePolicy = { deadLetterTargetArn: arnOf('sqs', 'Stack-Dead'), maxReceiveCount: 3 };
  const Abort = { DaysAfterInitiation: 1 };
  const rule = { Status: 'Enabled', ExpirationInDays: 2, AbortIncompleteMultipartUpload: Abort };
  await deployed({
    Dead: {
      Type: 'AWS::SQS::Queue',
      Properties: { VisibilityTimeout: 60, DelaySeconds: 5, QueueName: 'no' },
    },
    Queue: { Type: 'AWS::SQS::Queue', Properties: { RedrivePolicy } },
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [
          { AttributeName: 'shop', AttributeType: 'S' },
          { AttributeName: 'id', AttributeType: 'S' },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: 'by-shop',
            KeySchema: [{ AttributeName: 'shop', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name', 'at'] },
          },
        ],
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    },
    Bucket: { Type: 'AWS::S3::Bucket', Properties: { LifecycleConfiguration: { Rules: [rule] } } },
    Secret: { Type: 'AWS::SecretsManager::Secret' },
  });
  const { json } = awsCaller(aws.url, 'operator');

  const attributesOf = async (name: string) => {
    const QueueUrl = `${aws.url}/000000000000/Stack-${name}`;
    return (await json('sqs', 'GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] })).Attributes;
  };
  expect(await attributesOf('Dead')).toMatchObject({ VisibilityTimeout: '60', DelaySeconds: '5' });
  expect(await attributesOf('Queue')).toMatchObject({
    VisibilityTimeout: '30',
    RedrivePolicy: JSON.stringify(RedrivePolicy),
  });

  const TableName = 'Stack-Table';
  expect(await json('dynamodb', 'DescribeTable', { TableName })).toMatchObject({
    Table: { GlobalSecondaryIndexes: [{ IndexName: 'by-shop' }] },
  });

  const headers = { authorization: signedFor('s3') };
  const lifecycle = await send(aws, { method: 'GET', path: '/stack-bucket?lifecycle', headers });
  expect(lifecycle.body.toString()).toMatch(
    /<Days>2<.*<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</s,
  );
  expect(await json('secretsmanager', 'GetSecretValue', { SecretId: 'Stack-Secret' })).toMatchObject({
    SecretString: 'the secret',
  });
});

test('a function has at most two environments on this machine, whatever concurrency is reserved for it', async () => {
  const code = { Code: { S3Key: 'f00d.zip' }, Handler: 'index.handler', Role: 'arn' };
  const reserving = (ReservedConcurrentExecutions?: number) => ({
    Type: 'AWS::Lambda::Function',
    Properties: { ...code, ReservedConcurrentExecutions },
  });
  using written = assembly({ Resources: { One: reserving(1), Many: reserving(200), Any: reserving() } });
  const location = { awsUrl: aws.url, apiUrl: '' };
  const options = { location, secret: 'the secret', onProblem: () => {}, warmUp: false };
  const { functions, close } = await deployStack(written.folder, aws, options);
  const limits = [...functions.values()].map(({ definition }) => definition.maximumConcurrency);
  expect(limits).toEqual([1, 2, 2]);
  await close();
});

const keyed = { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], AttributeDefinitions: [] };
const fromKinesis = { DeliveryStreamType: 'KinesisStreamAsSource' };
test.each<[what: string, type: string, Properties: Record<string, unknown>]>([
  ['A table without its key', 'DynamoDB::Table', keyed],
  ['A delivery stream of another source', 'KinesisFirehose::DeliveryStream', fromKinesis],
])('%s is an error', async (_what, type, Properties) => {
  await expect(deployed({ Culprit: { Type: `AWS::${type}`, Properties } })).rejects.toThrow(/^Create/);
});
