import { describe, expect, test } from '@jest/globals';
import { readCloudAssembly } from '../../../local/template/cloud-assembly.ts';
import { Resources, rolePolicies } from '../../../local/template/resources.ts';
import { testAssembly } from '../../support/test-stack.ts';

type Declared = { Type: string; Properties?: Record<string, unknown> };

function resourcesOf(declared: Record<string, Declared>, outputs: Record<string, { Value: unknown }> = {}) {
  const withProperties = Object.entries(declared).map(([logicalId, { Type, Properties = {} }]) => [
    logicalId,
    { Type, Properties },
  ]);
  return new Resources(
    {
      name: 'Hooks',
      template: { Resources: Object.fromEntries(withProperties), Outputs: outputs },
      assetFolder: (key) => key,
    },
    {
      region: 'eu-west-1',
      accountId: '000000000000',
      awsUrl: 'http://localhost:4566',
      apiUrl: 'http://localhost:3000',
    },
  );
}

/** Evaluates a piece of a template that stands beside the declared resources. */
function evaluate(declared: Record<string, Declared>, value: unknown): string | undefined {
  return resourcesOf(declared, { Answer: { Value: value } }).outputs().Answer;
}

const queue = { Type: 'AWS::SQS::Queue' };
const topic = { Type: 'AWS::SNS::Topic' };
const table = { Type: 'AWS::DynamoDB::Table' };
const lambda = { Type: 'AWS::Lambda::Function' };
const role = { Type: 'AWS::IAM::Role' };
const api = { Type: 'AWS::ApiGatewayV2::Api' };
const restApi = { Type: 'AWS::ApiGateway::RestApi', Properties: { BinaryMediaTypes: ['*/*'] } };
const restStage = { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'api' } };
const bucket = { Type: 'AWS::S3::Bucket' };
const deliveryStream = { Type: 'AWS::KinesisFirehose::DeliveryStream' };
const logGroup = { Type: 'AWS::Logs::LogGroup' };
const key = { Type: 'AWS::KMS::Key' };

describe('the name of a resource', () => {
  test('is made of the stack and the logical id', () => {
    expect(resourcesOf({ Reviews: queue }).ofType('AWS::SQS::Queue')[0]?.name).toBe('Hooks-Reviews');
  });

  test('has at most the 80 characters that SQS takes', () => {
    const [long] = resourcesOf({ ['R'.repeat(200)]: queue }).ofType('AWS::SQS::Queue');
    expect(long?.name).toMatch(/^Hooks-R{61}-[0-9a-f]{12}$/);
    expect(long?.name).toHaveLength(80);
  });

  test('of a delivery stream has at most the 64 characters that Firehose takes', () => {
    const name = evaluate({ ['R'.repeat(200)]: deliveryStream }, { Ref: 'R'.repeat(200) });
    expect(name).toMatch(/^Hooks-R{45}-[0-9a-f]{12}$/);
    expect(name).toHaveLength(64);
  });

  test('of 80 characters stays as it is', () => {
    const logicalId = 'R'.repeat(80 - 'Hooks-'.length);
    const [exact] = resourcesOf({ [logicalId]: queue }).ofType('AWS::SQS::Queue');
    expect(exact?.name).toBe(`Hooks-${logicalId}`);
  });

  test('stays apart from another one that begins with the same 80 characters', () => {
    const names = resourcesOf({ [`${'R'.repeat(99)}1`]: queue, [`${'R'.repeat(99)}2`]: queue })
      .ofType('AWS::SQS::Queue')
      .map(({ name }) => name);
    expect(new Set(names).size).toBe(2);
  });
});

describe('what a template says of a resource', () => {
  test.each([
    ['Ref of a queue is its URL', queue, { Ref: 'It' }, 'http://localhost:4566/000000000000/Hooks-It'],
    ['Ref of a topic is its ARN', topic, { Ref: 'It' }, 'arn:aws:sns:eu-west-1:000000000000:Hooks-It'],
    ['Ref of a table is its name', table, { Ref: 'It' }, 'Hooks-It'],
    ['Ref of a function is its name', lambda, { Ref: 'It' }, 'Hooks-It'],
    ['Ref of a bucket is its name, which S3 wants in lower case', bucket, { Ref: 'It' }, 'hooks-it'],
    ['Arn of a bucket', bucket, { 'Fn::GetAtt': ['It', 'Arn'] }, 'arn:aws:s3:::hooks-it'],
    ['Ref of a delivery stream is its name', deliveryStream, { Ref: 'It' }, 'Hooks-It'],
    [
      'Arn of a delivery stream',
      deliveryStream,
      { 'Fn::GetAtt': ['It', 'Arn'] },
      'arn:aws:firehose:eu-west-1:000000000000:deliverystream/Hooks-It',
    ],
    ['Ref of a role is its name', role, { Ref: 'It' }, 'Hooks-It'],
    ['Arn of a queue', queue, { 'Fn::GetAtt': ['It', 'Arn'] }, 'arn:aws:sqs:eu-west-1:000000000000:Hooks-It'],
    ['QueueName of a queue', queue, { 'Fn::GetAtt': ['It', 'QueueName'] }, 'Hooks-It'],
    [
      'TopicArn of a topic',
      topic,
      { 'Fn::GetAtt': ['It', 'TopicArn'] },
      'arn:aws:sns:eu-west-1:000000000000:Hooks-It',
    ],
    ['TopicName of a topic', topic, { 'Fn::GetAtt': ['It', 'TopicName'] }, 'Hooks-It'],
    [
      'Arn of a table',
      table,
      { 'Fn::GetAtt': ['It', 'Arn'] },
      'arn:aws:dynamodb:eu-west-1:000000000000:table/Hooks-It',
    ],
    [
      'Arn of a function',
      lambda,
      { 'Fn::GetAtt': ['It', 'Arn'] },
      'arn:aws:lambda:eu-west-1:000000000000:function:Hooks-It',
    ],
    ['Arn of a role', role, { 'Fn::GetAtt': ['It', 'Arn'] }, 'arn:aws:iam::000000000000:role/Hooks-It'],
    [
      'Arn of a log group',
      logGroup,
      { 'Fn::GetAtt': ['It', 'Arn'] },
      'arn:aws:logs:eu-west-1:000000000000:log-group:Hooks-It:*',
    ],
    ['Arn of a key', key, { 'Fn::GetAtt': ['It', 'Arn'] }, 'arn:aws:kms:eu-west-1:000000000000:key/Hooks-It'],
    ['Ref of a stage of a REST API is its name', restStage, { Ref: 'It' }, 'api'],
    ['ApiEndpoint of an HTTP API', api, { 'Fn::GetAtt': ['It', 'ApiEndpoint'] }, 'http://localhost:3000'],
  ])('%s', (_what, declared, value, expected) => {
    expect(evaluate({ It: declared }, value)).toBe(expected);
  });

  test.each([
    ['AWS::AccountId', '000000000000'],
    ['AWS::Partition', 'aws'],
    ['AWS::Region', 'eu-west-1'],
    ['AWS::StackName', 'Hooks'],
    ['AWS::URLSuffix', 'amazonaws.com'],
  ])('%s is known', (name, expected) => {
    expect(evaluate({}, { Ref: name })).toBe(expected);
  });

  test('the address of a REST API, which a template puts together, is the local one', () => {
    const address = [
      'https://',
      { Ref: 'Api' },
      '.execute-api.',
      { Ref: 'AWS::Region' },
      '.',
      { Ref: 'AWS::URLSuffix' },
      '/',
      { Ref: 'Stage' },
      '/v1/hook',
    ];
    const declared = { Api: restApi, Stage: restStage };
    expect(evaluate(declared, { 'Fn::Join': ['', address] })).toBe('http://localhost:3000/api/v1/hook');
  });

  test('resources of a REST API have ids of their own, and so has the root', () => {
    const child = { Type: 'AWS::ApiGateway::Resource' };
    const ids = [{ 'Fn::GetAtt': ['Api', 'RootResourceId'] }, { Ref: 'Api' }, { Ref: 'V1' }, { Ref: 'Hook' }];
    const declared = { Api: restApi, V1: child, Hook: child };
    const distinct = new Set(ids.map((id) => evaluate(declared, id)));
    expect([...distinct]).toEqual(ids.map(() => expect.stringMatching(/^[0-9a-f]{10}$/)));
  });

  test('a secret has the ARN that Secrets Manager chose', () => {
    const resources = resourcesOf(
      { Secret: { Type: 'AWS::SecretsManager::Secret' } },
      { Arn: { Value: { Ref: 'Secret' } } },
    );
    resources.setSecretArn(
      'Secret',
      'arn:aws:secretsmanager:eu-west-1:000000000000:secret:Hooks-Secret-a1b2c3',
    );
    expect(resources.outputs().Arn).toBe(
      'arn:aws:secretsmanager:eu-west-1:000000000000:secret:Hooks-Secret-a1b2c3',
    );
  });

  test.each([
    ['a resource that is not declared', { Ref: 'Other' }, 'Ref Other'],
    ['what every object has', { Ref: 'constructor' }, 'Ref constructor'],
    ['an attribute that the resource has not', { 'Fn::GetAtt': ['It', 'Colour'] }, 'Fn::GetAtt It.Colour'],
  ])('refers to nothing that is not there: %s', (_what, value, named) => {
    expect(() => evaluate({ It: queue }, value)).toThrow(named);
  });
});

describe('the resources of a type', () => {
  test('have their properties evaluated', () => {
    const resources = resourcesOf({
      Dead: queue,
      Live: {
        Type: 'AWS::SQS::Queue',
        Properties: {
          RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 3 },
        },
      },
    });
    expect(resources.ofType('AWS::SQS::Queue')[1]?.properties).toEqual({
      RedrivePolicy: {
        deadLetterTargetArn: 'arn:aws:sqs:eu-west-1:000000000000:Hooks-Dead',
        maxReceiveCount: 3,
      },
    });
  });

  test('have the defaults of CloudFormation', () => {
    const resources = resourcesOf({
      Receiver: {
        Type: 'AWS::Lambda::Function',
        Properties: { Code: { S3Key: 'f00d.zip' }, Handler: 'index.handler', Role: 'arn' },
      },
    });
    expect(resources.ofType('AWS::Lambda::Function')[0]?.properties).toMatchObject({
      Timeout: 3,
      MemorySize: 128,
      Environment: { Variables: {} },
    });
  });

  test('are none where the template has none', () => {
    expect(resourcesOf({ It: topic }).ofType('AWS::SQS::Queue')).toEqual([]);
  });
});

const restMethod = (properties: Record<string, unknown>) => ({
  Type: 'AWS::ApiGateway::Method',
  Properties: {
    HttpMethod: 'POST',
    ResourceId: 'hook',
    AuthorizationType: 'NONE',
    Integration: {
      Type: 'AWS_PROXY',
      Uri: 'arn:aws:apigateway:r:lambda:path/2015-03-31/functions/arn:aws:lambda:r:0:function:f/invocations',
    },
    ...properties,
  },
});

describe('what cannot be run is refused, naming the resource and the property', () => {
  test.each([
    [
      'a delay that is no number',
      { Type: 'AWS::SQS::Queue', Properties: { DelaySeconds: 'long' } },
      'DelaySeconds',
    ],
    [
      'a WebSocket API',
      { Type: 'AWS::ApiGatewayV2::Api', Properties: { ProtocolType: 'WEBSOCKET' } },
      'ProtocolType',
    ],
    [
      'payload format 1.0',
      {
        Type: 'AWS::ApiGatewayV2::Integration',
        Properties: { IntegrationType: 'AWS_PROXY', IntegrationUri: 'arn', PayloadFormatVersion: '1.0' },
      },
      'PayloadFormatVersion',
    ],
    [
      'a REST API that hands over text',
      { Type: 'AWS::ApiGateway::RestApi', Properties: { BinaryMediaTypes: ['image/png'] } },
      'BinaryMediaTypes.0',
    ],
    [
      'a resource with a variable part',
      { Type: 'AWS::ApiGateway::Resource', Properties: { ParentId: 'root', PathPart: '{proxy+}' } },
      'PathPart',
    ],
    ['a method with an authorizer', restMethod({ AuthorizationType: 'CUSTOM' }), 'AuthorizationType'],
    [
      'a method that calls something else',
      restMethod({ Integration: { Type: 'AWS_PROXY', Uri: 'arn:aws:apigateway:r:sqs:path/queue' } }),
      'Integration.Uri',
    ],
    [
      'a throttle of one method',
      {
        Type: 'AWS::ApiGateway::Stage',
        Properties: {
          StageName: 'api',
          MethodSettings: [{ HttpMethod: 'POST', ResourcePath: '/~1hook', ThrottlingRateLimit: 1 }],
        },
      },
      'MethodSettings.0.HttpMethod',
    ],
    [
      'a gateway response in XML',
      {
        Type: 'AWS::ApiGateway::GatewayResponse',
        Properties: { ResponseType: 'THROTTLED', ResponseTemplates: { 'application/xml': '<a/>' } },
      },
      'ResponseTemplates',
    ],
    [
      'a managed policy, whose rights nobody here knows',
      {
        Type: 'AWS::IAM::Role',
        Properties: { ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'] },
      },
      'ManagedPolicyArns.0',
    ],
    [
      'a policy with NotAction',
      {
        Type: 'AWS::IAM::Policy',
        Properties: {
          Roles: ['r'],
          PolicyDocument: {
            Statement: [{ Effect: 'Allow', NotAction: 'sqs:*', Action: 'a', Resource: 'b' }],
          },
        },
      },
      'PolicyDocument.Statement.0',
    ],
    [
      'a function whose code is in the template',
      {
        Type: 'AWS::Lambda::Function',
        Properties: { Code: { ZipFile: '' }, Handler: 'index.handler', Role: 'arn' },
      },
      'Code.S3Key',
    ],
    [
      'a table key that CloudFormation does not have',
      {
        Type: 'AWS::DynamoDB::Table',
        Properties: { KeySchema: [{ AttributeName: 'id', KeyType: 'SORT' }], AttributeDefinitions: [] },
      },
      'KeySchema.0.KeyType',
    ],
  ])('%s', (_what, declared, property) => {
    const read = () => resourcesOf({ Culprit: declared }).ofType(declared.Type as 'AWS::SQS::Queue');
    expect(read).toThrow(`The local stack cannot run ${declared.Type} Culprit: ${property}: `);
  });
});

describe('types that have no part in the local stack', () => {
  test('are listed once', () => {
    const resources = resourcesOf({
      Bus: { Type: 'AWS::Events::EventBus' },
      Other: { Type: 'AWS::Events::EventBus' },
      Queue: queue,
    });
    expect(resources.unknownTypes()).toEqual(['AWS::Events::EventBus']);
  });

  test('are not listed where there is nothing to run', () => {
    const resources = resourcesOf({
      Log: logGroup,
      Key: key,
      Alarm: { Type: 'AWS::CloudWatch::Alarm' },
      Stream: deliveryStream,
      Table: { Type: 'AWS::Glue::Table' },
      Questions: { Type: 'AWS::Athena::WorkGroup' },
    });
    expect(resources.unknownTypes()).toEqual([]);
  });

  test('are none of the stack that is deployed', () => {
    const stack = readCloudAssembly(testAssembly());
    const place = { region: 'r', accountId: 'a', awsUrl: 'http://aws', apiUrl: 'http://api' };
    expect(new Resources(stack, place).unknownTypes()).toEqual([]);
  });
});

describe('the policies of a role', () => {
  const statement = {
    Effect: 'Allow',
    Action: 'sqs:SendMessage',
    Resource: { 'Fn::GetAtt': ['Reviews', 'Arn'] },
  };
  const evaluated = { ...statement, Resource: 'arn:aws:sqs:eu-west-1:000000000000:Hooks-Reviews' };

  test('are its own and the ones that name it', () => {
    const policies = rolePolicies(
      resourcesOf({
        Reviews: queue,
        Sender: {
          Type: 'AWS::IAM::Role',
          Properties: { Policies: [{ PolicyDocument: { Statement: [statement] } }] },
        },
        Attached: {
          Type: 'AWS::IAM::Policy',
          Properties: { Roles: [{ Ref: 'Sender' }], PolicyDocument: { Statement: [statement] } },
        },
      }),
    );
    expect(policies).toEqual([
      {
        arn: 'arn:aws:iam::000000000000:role/Hooks-Sender',
        logicalId: 'Sender',
        statements: [evaluated, evaluated],
      },
    ]);
  });

  test('are none where a policy names another role', () => {
    const policies = rolePolicies(
      resourcesOf({
        Reviews: queue,
        Sender: role,
        Other: role,
        Attached: {
          Type: 'AWS::IAM::Policy',
          Properties: { Roles: [{ Ref: 'Other' }], PolicyDocument: { Statement: [statement] } },
        },
      }),
    );
    expect(policies.find(({ logicalId }) => logicalId === 'Sender')?.statements).toEqual([]);
  });
});
