import { describe, expect, test } from '@jest/globals';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase, pascalCase, queueUrlVariable } from '../../lambda/events/event-names.ts';
import { listOf, type Resource, SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { testAssembly } from '../support/test-stack.ts';

const template = new SynthesisedTemplate(testAssembly());
const queues = template.ofType('AWS::SQS::Queue');
const topics = template.ofType('AWS::SNS::Topic');
const buckets = template.ofType('AWS::S3::Bucket');
const tables = template.ofType('AWS::DynamoDB::Table');
const functions = template.ofType('AWS::Lambda::Function');

/** Every event of the catalogue with the path of its constructs. */
const pipelines = eventNames.map((event) => ({ event, path: pascalCase(event) }));

/** In seconds. */
const DAY = 24 * 60 * 60;

/** Paths of the resources that do not meet a requirement. */
const except = (resources: readonly Resource[], meets: (resource: Resource) => boolean) =>
  resources.filter((resource) => !meets(resource)).map(({ path }) => path);

/** Whether the resource's own policy denies an action to everybody who does not use TLS. */
const demandsTls = (action: string) => (resource: Resource) =>
  template
    .resourcePolicyOf(resource)
    .some(
      ({ Effect, Action, Principal, Resource, Condition }) =>
        Effect === 'Deny' &&
        Action === action &&
        ['"*"', '{"AWS":"*"}'].includes(JSON.stringify(Principal)) &&
        template.referred(listOf(Resource)[0]) === resource.path &&
        JSON.stringify(Condition) === '{"Bool":{"aws:SecureTransport":"false"}}',
    );

describe('the pipeline of each event of the catalogue', () => {
  test.each(pipelines)('$event has a queue', ({ path }) => {
    expect(queues.map((queue) => queue.path)).toContain(`${path}/Queue`);
  });

  test.each(pipelines)('$event has a dead-letter queue after 10 receives', ({ path }) => {
    const { RedrivePolicy } = template.at('AWS::SQS::Queue', `${path}/Queue`).properties;
    expect(RedrivePolicy.maxReceiveCount).toBe(10);
    expect(template.referred(RedrivePolicy.deadLetterTargetArn)).toBe(`${path}/DeadLetterQueue`);
  });

  test.each(pipelines)(
    '$event has a function that says what it does in the words of the contract',
    ({ event, path }) => {
      const { properties } = template.at('AWS::Lambda::Function', `${path}/Consumer/Function`);
      expect(properties.Description).toBe(`${event}: ${catalogue[event].processing}`);
    },
  );

  test.each(pipelines)('$event has one event source mapping, from its queue to its function', ({ path }) => {
    const mappings = template
      .ofType('AWS::Lambda::EventSourceMapping')
      .map(({ properties }) => [
        template.referred(properties.EventSourceArn),
        template.functionBehind(properties.FunctionName),
      ])
      .filter((ends) => ends.some((end) => end.startsWith(`${path}/`)));
    expect(mappings).toEqual([[`${path}/Queue`, `${path}/Consumer/Function`]]);
  });

  test.each(pipelines)('$event reports the failures of a batch item by item', ({ path }) => {
    const mapping = template
      .ofType('AWS::Lambda::EventSourceMapping')
      .find(({ properties }) => template.referred(properties.EventSourceArn) === `${path}/Queue`);
    expect(mapping?.properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
  });

  test.each(pipelines)(
    '$event hides a message for at least six times as long as its function may take',
    ({ path }) => {
      const queue = template.at('AWS::SQS::Queue', `${path}/Queue`).properties;
      const consumer = template.at('AWS::Lambda::Function', `${path}/Consumer/Function`).properties;
      expect(queue.VisibilityTimeout).toBeGreaterThanOrEqual(6 * consumer.Timeout);
    },
  );

  test.each(pipelines)('$event has a function that gives up when its queue does', ({ path }) => {
    const { Variables } = template.at('AWS::Lambda::Function', `${path}/Consumer/Function`).properties
      .Environment;
    expect({
      queue: template.referred(Variables.QUEUE_URL),
      deadLetterQueue: template.referred(Variables.DEAD_LETTER_QUEUE_URL),
      maximumReceives: Number(Variables.MAXIMUM_RECEIVES),
    }).toEqual({ queue: `${path}/Queue`, deadLetterQueue: `${path}/DeadLetterQueue`, maximumReceives: 10 });
  });

  test('there is no pipeline besides', () => {
    expect(template.ofType('AWS::Lambda::EventSourceMapping')).toHaveLength(eventNames.length);
  });
});

describe('every queue', () => {
  test('is encrypted', () => {
    expect(except(queues, ({ properties }) => properties.SqsManagedSseEnabled === true)).toEqual([]);
  });

  test('denies everything that does not come over TLS', () => {
    expect(except(queues, demandsTls('sqs:*'))).toEqual([]);
  });

  test('keeps a message for 14 days, the longest that SQS can, and half of it where a consumer is to take it', () => {
    const consumed = template
      .ofType('AWS::Lambda::EventSourceMapping')
      .map(({ properties }) => template.referred(properties.EventSourceArn));
    expect(consumed).toHaveLength(eventNames.length);
    expect(
      except(queues, ({ path, properties }) => {
        const days = consumed.includes(path) ? 7 : 14;
        return properties.MessageRetentionPeriod === days * DAY;
      }),
    ).toEqual([]);
  });

  test('that has a consumer has a dead-letter queue that no other one has', () => {
    const deadLetterQueues = template
      .ofType('AWS::Lambda::EventSourceMapping')
      .map(({ properties }) => template.at('AWS::SQS::Queue', template.referred(properties.EventSourceArn)))
      .map(({ properties }) => template.referred(properties.RedrivePolicy?.deadLetterTargetArn));
    expect(new Set(deadLetterQueues).size).toBe(deadLetterQueues.length);
  });
});

describe('every topic', () => {
  test('is encrypted with the topic key', () => {
    expect(
      except(topics, ({ properties }) => template.referred(properties.KmsMasterKeyId) === 'TopicKey'),
    ).toEqual([]);
  });

  test('denies what is not published over TLS', () => {
    expect(except(topics, demandsTls('sns:Publish'))).toEqual([]);
  });
});

describe('every table', () => {
  test('is on demand', () => {
    expect(except(tables, ({ properties }) => properties.BillingMode === 'PAY_PER_REQUEST')).toEqual([]);
  });

  test('can be restored to any point in time', () => {
    expect(
      except(
        tables,
        ({ properties }) => properties.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled === true,
      ),
    ).toEqual([]);
  });

  test.each([
    ['ShopCache', 'shop_id'],
    ['Cast', 'girl_id'],
    ['ContactPartner', 'user_id'],
    ['Idempotency', 'id'],
  ])('%s has the key %s', (name, key) => {
    const { KeySchema } = template.at('AWS::DynamoDB::Table', `Effects/${name}`).properties;
    expect(KeySchema).toEqual([{ AttributeName: key, KeyType: 'HASH' }]);
  });

  test.each([
    ['tombstones', 'Cast', 'expires_at'],
    ['records of what was notified', 'Idempotency', 'expiration'],
  ])('lets its %s expire: %s, by %s', (_what, name, attribute) => {
    const { properties } = template.at('AWS::DynamoDB::Table', `Effects/${name}`);
    expect(properties.TimeToLiveSpecification).toEqual({ AttributeName: attribute, Enabled: true });
  });

  test('of the cast finds the cast of a shop', () => {
    const { properties } = template.at('AWS::DynamoDB::Table', 'Effects/Cast');
    expect(properties.GlobalSecondaryIndexes).toEqual([
      {
        IndexName: 'shop_id',
        KeySchema: [{ AttributeName: 'shop_id', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ]);
  });
});

describe('every bucket', () => {
  test('is encrypted', () => {
    expect(except(buckets, ({ properties }) => properties.BucketEncryption !== undefined)).toEqual([]);
  });

  test('denies everything that does not come over TLS', () => {
    expect(except(buckets, demandsTls('s3:*'))).toEqual([]);
  });

  test('can be made public by nobody', () => {
    const isPrivate = ({ properties }: Resource) =>
      ['BlockPublicAcls', 'BlockPublicPolicy', 'IgnorePublicAcls', 'RestrictPublicBuckets'].every(
        (block) => properties.PublicAccessBlockConfiguration?.[block] === true,
      );
    expect(except(buckets, isPrivate)).toEqual([]);
  });
});

describe('every function', () => {
  test('runs on Node.js 24', () => {
    expect(except(functions, ({ properties }) => properties.Runtime === 'nodejs24.x')).toEqual([]);
  });

  test('is not followed by X-Ray, and may write no traces, unless the stage says so', () => {
    expect(except(functions, ({ properties }) => properties.TracingConfig === undefined)).toEqual([]);
    const allowed = template.ofType('AWS::IAM::Role').flatMap((role) => template.permissionsOf(role));
    expect(allowed.filter(({ action }) => action.startsWith('xray:'))).toEqual([]);
  });

  test('is logged by Lambda where it fails, and only there', () => {
    const logging = { LogFormat: 'JSON', SystemLogLevel: 'WARN' };
    const isQuiet = ({ properties: { LoggingConfig } }: Resource) =>
      Object.entries(logging).every(([name, value]) => LoggingConfig?.[name] === value);
    expect(except(functions, isQuiet)).toEqual([]);
  });

  test('runs on arm64', () => {
    const onArm = ({ properties }: Resource) => JSON.stringify(properties.Architectures) === '["arm64"]';
    expect(except(functions, onArm)).toEqual([]);
  });

  test('has a log group of its own', () => {
    const logGroups = functions.map(({ properties }) => template.referred(properties.LoggingConfig.LogGroup));
    expect(new Set(logGroups).size).toBe(functions.length);
  });

  test('has a role of its own', () => {
    const taken = functions.map(({ properties }) => template.referred(properties.Role));
    expect(new Set(taken).size).toBe(functions.length);
  });

  test.each([
    { service: 'receiver', path: 'Receiver/Function' },
    ...pipelines.map(({ event, path }) => ({
      service: kebabCase(event),
      path: `${path}/Consumer/Function`,
    })),
  ])('$service is named in its log lines', ({ service, path }) => {
    const { Variables } = template.at('AWS::Lambda::Function', path).properties.Environment;
    expect(Variables.POWERTOOLS_SERVICE_NAME).toBe(service);
  });
});

describe('the receiver', () => {
  const { Variables } = template.at('AWS::Lambda::Function', 'Receiver/Function').properties.Environment;

  test.each([
    ...pipelines.map(({ event, path }) => [queueUrlVariable(event), `${path}/Queue`]),
    ['QUARANTINE_QUEUE_URL', 'Quarantine'],
    ['UNROUTED_QUEUE_URL', 'Unrouted'],
    ['WEBHOOK_SECRET_ARN', 'WebhookSecret/Secret'],
  ])('finds in %s the address of %s', (variable, path) => {
    expect(template.referred(Variables[variable])).toBe(path);
  });

  test('accepts the previous secret for 24 hours after a rotation', () => {
    expect(Number(Variables.SECRET_GRACE_SECONDS)).toBe(24 * 60 * 60);
  });
});

describe('the HTTP API', () => {
  test('has one route: POST /api/v1/webhooks/partner', () => {
    const routes = template.ofType('AWS::ApiGatewayV2::Route').map(({ properties }) => properties.RouteKey);
    expect(routes).toEqual(['POST /api/v1/webhooks/partner']);
  });

  test('hands a delivery to the receiver with payload format 2.0', () => {
    const integrations = template
      .ofType('AWS::ApiGatewayV2::Integration')
      .map(({ properties }) => [
        template.functionBehind(properties.IntegrationUri),
        properties.PayloadFormatVersion,
      ]);
    expect(integrations).toEqual([['Receiver/Function', '2.0']]);
  });

  test('alone may invoke a function from outside', () => {
    const permissions = template
      .ofType('AWS::Lambda::Permission')
      .map(({ properties }) => [properties.Principal, template.functionBehind(properties.FunctionName)]);
    expect(permissions).toEqual([['apigateway.amazonaws.com', 'Receiver/Function']]);
  });

  test('logs neither a body nor a signature', () => {
    const [stage] = template.ofType('AWS::ApiGatewayV2::Stage');
    expect(stage?.properties.AccessLogSettings.Format).not.toMatch(/body|signature|header/i);
  });
});

describe('the secret', () => {
  test('is made by Secrets Manager and stands nowhere in the template', () => {
    const { properties } = template.at('AWS::SecretsManager::Secret', 'WebhookSecret/Secret');
    expect(properties).toEqual({
      Description: expect.any(String),
      GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
    });
  });
});

describe('outputs', () => {
  test('are the ones that everything else knows the stack by', () => {
    expect(Object.keys(template.outputs).sort()).toEqual(
      [
        'WebhookUrl',
        'WebhookSecretArn',
        'ShopCacheTable',
        'CastTable',
        'ContactPartnerTable',
        'ChatTopicArn',
        'ReviewTopicArn',
        'AlarmTopicArn',
        'QuarantineQueueUrl',
        'UnroutedQueueUrl',
        'PayloadBucket',
        'ArchiveBucket',
        'ArchiveDatabase',
        'ArchiveWorkgroup',
        'ApiAccessLogGroup',
        'ReceiverLogGroup',
        ...pipelines.flatMap(({ path }) => [
          `${path}QueueUrl`,
          `${path}DeadLetterQueueUrl`,
          `${path}LogGroup`,
          `${path}WaitingAlarm`,
          `${path}PausedAlarm`,
          `${path}ArchiveStream`,
        ]),
      ].sort(),
    );
  });

  test.each([
    ['WebhookSecretArn', 'WebhookSecret/Secret'],
    ['ShopCacheTable', 'Effects/ShopCache'],
    ['CastTable', 'Effects/Cast'],
    ['ContactPartnerTable', 'Effects/ContactPartner'],
    ['ChatTopicArn', 'Effects/Chat'],
    ['ReviewTopicArn', 'Effects/Review'],
    ['AlarmTopicArn', 'Alarms/Topic'],
    ['QuarantineQueueUrl', 'Quarantine'],
    ['UnroutedQueueUrl', 'Unrouted'],
    ['ApiAccessLogGroup', 'Api/AccessLog'],
    ['ReceiverLogGroup', 'Receiver/Log'],
    ['ShopUpdatedLogGroup', 'ShopUpdated/Consumer/Log'],
    ...pipelines.flatMap(({ path }) => [
      [`${path}QueueUrl`, `${path}/Queue`],
      [`${path}DeadLetterQueueUrl`, `${path}/DeadLetterQueue`],
      [`${path}WaitingAlarm`, `${path}/Waiting`],
      [`${path}PausedAlarm`, `${path}/Paused`],
    ]),
  ])('%s is %s', (name, path) => {
    expect(template.referred(template.outputs[name]?.Value)).toBe(path);
  });

  test('WebhookUrl is the route over HTTPS', () => {
    const { logicalId } = template.at('AWS::ApiGatewayV2::Api', 'Api/HttpApi');
    // An HTTP API's endpoint has the scheme https and no other.
    expect(template.outputs.WebhookUrl?.Value).toEqual({
      'Fn::Join': ['', [{ 'Fn::GetAtt': [logicalId, 'ApiEndpoint'] }, '/api/v1/webhooks/partner']],
    });
  });
});

describe('under load', () => {
  test('the API throttles no earlier than the account', () => {
    const [stage] = template.ofType('AWS::ApiGatewayV2::Stage');
    expect(stage?.properties.DefaultRouteSettings).toEqual({
      ThrottlingRateLimit: 10_000,
      ThrottlingBurstLimit: 5_000,
    });
  });

  test('each consumer leaves concurrency to the receiver', () => {
    const sources = template.ofType('AWS::Lambda::EventSourceMapping');
    expect(sources).toHaveLength(eventNames.length);
    for (const { properties } of sources)
      expect(properties.ScalingConfig).toEqual({ MaximumConcurrency: 20 });
  });
});
