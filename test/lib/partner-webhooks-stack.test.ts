import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { Resources } from 'local-aws/resources';
import { listOf } from 'local-aws/synthesised-template';
import { stages } from '../../bin/stages.ts';
import { catalogue, eventNames, isNotification } from '../../lambda/events/catalogue.ts';
import type { EffectName } from '../../lambda/events/definition.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { stackNameOf } from '../../lib/config.ts';
import { warnings as warningTable } from '../../lib/warnings.ts';
import {
  everyStage,
  functionBehind,
  resourcePolicyOf,
  type StageResource,
  stageAssembly,
  stageTemplate,
} from './stage-assembly.ts';

// Rules for the resources of all stages. The details of each resource are in the tests of its part.
const { ofType, breaking } = await everyStage();
const prod = await stageTemplate('prod');
const settingsOf = (stage: string) => stages[stage] as Readonly<Record<string, unknown>>;

/** Whether the topic's own policy denies a publication without TLS. */
const demandsTls = (topic: StageResource) =>
  resourcePolicyOf(topic.template, topic).some(
    ({ Effect, Action, Principal, Resource, Condition }) =>
      Effect === 'Deny' &&
      Action === 'sns:Publish' &&
      ['"*"', '{"AWS":"*"}'].includes(JSON.stringify(Principal)) &&
      topic.template.referred(listOf(Resource)[0]) === topic.path &&
      JSON.stringify(Condition) === '{"Bool":{"aws:SecureTransport":"false"}}',
  );

const mappings = ofType('AWS::Lambda::EventSourceMapping').map(({ stage, template, properties }) => ({
  stage,
  template,
  properties,
  queue: template.at('AWS::SQS::Queue', template.referred(properties.EventSourceArn)),
  consumer: template.at('AWS::Lambda::Function', functionBehind(template, properties.FunctionName)),
}));
const mappingOf = ({ stage, path }: StageResource) =>
  mappings.find((mapping) => mapping.stage === stage && mapping.queue.path === path);

describe('the pipeline of each event', () => {
  test('exists for each event of the catalogue, in every stage, from queue to consumer', () => {
    const found = mappings.map(({ stage, queue, consumer }) => [stage, queue.path, consumer.path]);
    const names = eventNames.map((event) => pascalCase(event));
    const expected = Object.keys(stages).flatMap((stage) =>
      names.map((name) => [stage, `${name}/Queue`, `${name}/Consumer/Function`]),
    );
    expect(found.sort()).toEqual(expected.sort());
  });

  test('has its own dead-letter queue after 12 receives, and a consumer that uses it after 10', () => {
    for (const { template, queue, consumer } of mappings) {
      const deadLetterQueue = queue.path.replace('/Queue', '/DeadLetterQueue');
      const { maxReceiveCount, deadLetterTargetArn } = queue.properties.RedrivePolicy;
      const variables = consumer.properties.Environment.Variables;
      expect(maxReceiveCount).toBe(12);
      expect(template.referred(deadLetterTargetArn)).toBe(deadLetterQueue);
      expect(variables.MAXIMUM_RECEIVES).toBe('10');
      expect(template.referred(variables.QUEUE_URL)).toBe(queue.path);
      expect(template.referred(variables.DEAD_LETTER_QUEUE_URL)).toBe(deadLetterQueue);
    }
  });

  test('reports failures by message, and hides a message for at least six times as long as its consumer may take', () => {
    for (const { properties, queue, consumer } of mappings) {
      expect(properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      expect(properties.ScalingConfig).toEqual({ MaximumConcurrency: expect.any(Number) });
      expect(queue.properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * consumer.properties.Timeout);
    }
  });
});

// cdk-nag (below) finds public buckets, queues without encryption, queues and buckets without TLS, and tables that cannot be restored.
describe('every queue, topic and bucket', () => {
  test('denies publishing without TLS, if it is a topic', () => {
    expect(breaking('AWS::SNS::Topic', demandsTls)).toEqual([]);
  });

  test('allows no other account', () => {
    const bound = '{"StringEquals":{"aws:SourceAccount":{"Ref":"AWS::AccountId"}}}';
    const ofOneAccount = ({ properties, stage }: StageResource) =>
      properties.PolicyDocument.Statement.filter(
        ({ Effect }: { Effect: string }) => Effect === 'Allow',
      ).every(
        ({ Condition }: { Condition: unknown }) =>
          JSON.stringify(Condition).replace(`"${settingsOf(stage).account}"`, '{"Ref":"AWS::AccountId"}') ===
          bound,
      );
    for (const type of ['AWS::SQS::QueuePolicy', 'AWS::SNS::TopicPolicy', 'AWS::S3::BucketPolicy']) {
      expect(breaking(type, ofOneAccount)).toEqual([]);
    }
  });

  test('owns its objects and keeps no earlier versions of them, if it is a bucket', () => {
    const isPlain = ({ properties: { OwnershipControls, VersioningConfiguration } }: StageResource) =>
      OwnershipControls?.Rules[0].ObjectOwnership === 'BucketOwnerEnforced' &&
      VersioningConfiguration === undefined;
    expect(breaking('AWS::S3::Bucket', isPlain)).toEqual([]);
  });

  test('keeps a message for 14 days, the limit of SQS, half of it if a consumer reads it, or a minute for probes', () => {
    const DAY = 24 * 60 * 60;
    const retention = (queue: StageResource) => {
      if (queue.path === 'SmokeTestQueue') return 60;
      return mappingOf(queue) === undefined ? 14 * DAY : 7 * DAY;
    };
    const keeps = (queue: StageResource) => queue.properties.MessageRetentionPeriod === retention(queue);
    expect(breaking('AWS::SQS::Queue', keeps)).toEqual([]);
  });
});

describe('every table', () => {
  test('is on demand, and can be restored to any moment of 35 days', () => {
    const recovery = '{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":35}';
    const isRestorable = ({ properties }: StageResource) =>
      properties.BillingMode === 'PAY_PER_REQUEST' &&
      JSON.stringify(properties.PointInTimeRecoverySpecification) === recovery;
    expect(breaking('AWS::DynamoDB::Table', isRestorable)).toEqual([]);
  });

  test('deletes expired items: tombstones, and records of notifications', () => {
    const attributes = ofType('AWS::DynamoDB::Table').flatMap(({ path, properties }) =>
      properties.TimeToLiveSpecification === undefined ? [] : { path, ...properties.TimeToLiveSpecification },
    );
    const expiring = [
      { path: 'Effects/Cast', AttributeName: 'expires_at', Enabled: true },
      { path: 'Effects/Idempotency', AttributeName: 'expiration', Enabled: true },
    ];
    expect(attributes).toEqual(Object.keys(stages).flatMap(() => expiring));
  });
});

describe('every function', () => {
  test('has its own log group and role, and is logged by Lambda only if it fails', () => {
    const functions = ofType('AWS::Lambda::Function');
    const logs = ({ properties: { LoggingConfig } }: StageResource) =>
      LoggingConfig.LogFormat === 'JSON' && LoggingConfig.SystemLogLevel === 'WARN';
    expect(breaking('AWS::Lambda::Function', logs)).toEqual([]);
    const own = functions.flatMap(({ stage, properties }) => [
      `${stage} ${JSON.stringify(properties.LoggingConfig.LogGroup)}`,
      `${stage} ${JSON.stringify(properties.Role)}`,
    ]);
    expect(new Set(own).size).toBe(2 * functions.length);
  });

  test('has only the ARN of the secret in its environment', () => {
    const names = ofType('AWS::Lambda::Function')
      .flatMap(({ properties }) => Object.keys(properties.Environment.Variables))
      .filter((name) => /secret|password|token/i.test(name));
    expect(new Set(names)).toEqual(new Set(['WEBHOOK_SECRET_ARN']));
  });
});

test('CloudWatch can use each key, for its own account only', () => {
  const isBound = ({ stage, properties: { KeyPolicy } }: StageResource) => {
    const account = settingsOf(stage).account ?? { Ref: 'AWS::AccountId' };
    const conditions = (KeyPolicy.Statement as { Principal: { Service?: string }; Condition?: object }[])
      .filter(({ Principal }) => Principal.Service === 'cloudwatch.amazonaws.com')
      .map(({ Condition }) => Condition);
    return (
      JSON.stringify(conditions) === JSON.stringify([{ StringEquals: { 'aws:SourceAccount': account } }])
    );
  };
  expect(breaking('AWS::KMS::Key', isBound)).toEqual([]);
});

test('Secrets Manager generates the secret, and the template does not contain it', () => {
  const isMade = ({ properties: { KmsKeyId, Description, ...others } }: StageResource) =>
    JSON.stringify(others) === '{"GenerateSecretString":{"ExcludePunctuation":true,"PasswordLength":64}}';
  expect(breaking('AWS::SecretsManager::Secret', isMade)).toEqual([]);
});

describe('every role', () => {
  test('can be assumed only by the service that needs it', () => {
    const others: Readonly<Record<string, string>> = {
      'Archive/Writer': 'firehose.amazonaws.com',
      'Canaries/Role': 'codedeploy.amazonaws.com',
      'Effects/ChatChannels/Role': 'chatbot.amazonaws.com',
    };
    const isForOne = ({ path, properties }: StageResource) => {
      const principals = properties.AssumeRolePolicyDocument.Statement.map(
        ({ Principal }: { Principal: unknown }) => Principal,
      );
      return (
        JSON.stringify(principals) === JSON.stringify([{ Service: others[path] ?? 'lambda.amazonaws.com' }])
      );
    };
    expect(breaking('AWS::IAM::Role', isForOne)).toEqual([]);
  });

  const permissionsOf = (path: string) => prod.permissionsOf(prod.at('AWS::IAM::Role', path));
  /** What the consumers of an effect change. */
  const TARGETS: Readonly<Record<EffectName, string>> = {
    'shop-cache': 'Effects/ShopCache',
    cast: 'Effects/Cast',
    'contact-partner': 'Effects/ContactPartner',
    chat: 'Effects/Chat',
    review: 'Effects/Review',
  };

  test.each(eventNames)('of the consumer of %s reaches only what belongs to its event', (event) => {
    const name = pascalCase(event);
    const target = TARGETS[catalogue[event].effect];
    const shared = ['Effects/Idempotency', ...(isNotification(event) ? ['TopicKey'] : [])];
    const own = [`${name}/`, `Payloads/${event}/*`, `Archive/${name}`, target, ...shared];
    const permissions = permissionsOf(`${name}/Consumer/Role`);
    const others = permissions.filter(({ resource }) => !own.some((path) => resource.startsWith(path)));
    expect(others).toEqual([]);
    const sendsTo = permissions.filter(({ action }) => action === 'sqs:SendMessage');
    expect(sendsTo.map(({ resource }) => resource)).toEqual([`${name}/DeadLetterQueue`]);
    // A compromised consumer cannot read a table.
    const onTarget = permissions.filter(({ resource }) => resource.startsWith(target));
    expect(onTarget.map(({ action }) => action)).toEqual([
      expect.stringMatching(/^(dynamodb:(Put|Update)Item|sns:Publish)$/),
    ]);
  });

  test('of the receiver may send, store, log and read the secret, and nothing else', () => {
    const actions = permissionsOf('Receiver/Role').map(({ action }) => action);
    expect(new Set(actions)).toEqual(
      new Set([
        ...['logs:CreateLogStream', 'logs:PutLogEvents', 's3:PutObject'],
        ...['secretsmanager:GetSecretValue', 'sqs:SendMessage'],
      ]),
    );
  });

  // If a deployment removes an event, the archive or a secret, the version that has traffic needs its rights until the end.
  test('of a function has policies that no deployment changes: other permissions are in another policy', () => {
    const ofFunctions = ofType('AWS::IAM::Policy').filter(({ template, properties }) =>
      properties.Roles.some((role: unknown) => /^Receiver|\/Consumer\//.test(template.referred(role))),
    );
    const documents = Map.groupBy(ofFunctions, ({ logicalId }) => logicalId)
      .values()
      .map((policies) => new Set(policies.map(({ properties }) => JSON.stringify(properties))).size);
    expect(ofFunctions.length).toBeGreaterThan(eventNames.length);
    expect(new Set(documents)).toEqual(new Set([1]));
  });
});

describe('every stage', () => {
  test.each(Object.keys(stages))(
    '%s has resources that the local AWS knows, or channels of chat',
    async (stage) => {
      const place = { awsUrl: 'http://aws', apiUrl: 'http://api' };
      const resources = new Resources(readCloudAssembly(await stageAssembly(stage)), place);
      expect(resources.unknownTypes().filter((type) => !type.startsWith('AWS::Chatbot::'))).toEqual([]);
    },
  );

  test('tests all new versions before an alias moves', () => {
    for (const { template, logicalId, properties } of ofType('Custom::SmokeTest')) {
      const tried = [properties.Receiver, ...properties.Consumers].map((version) =>
        template.referred(version),
      );
      const aliases = template.ofType('AWS::Lambda::Alias');
      const versions = aliases.map((alias) => template.referred(alias.properties.FunctionVersion));
      expect(tried.sort()).toEqual(versions.sort());
      expect(aliases.filter(({ dependsOn }) => !dependsOn.includes(logicalId))).toEqual([]);
    }
  });

  // CloudWatch Logs rejects concurrent changes of one log.
  test('creates the metric filters of one log one after another', () => {
    const logs = Map.groupBy(ofType('AWS::Logs::MetricFilter'), ({ stage, template, properties }) =>
      [stage, template.referred(properties.LogGroupName)].join(' '),
    );
    expect(logs.size).toBe(Object.keys(stages).length * (eventNames.length + 3));
    for (const filters of logs.values()) {
      const waitsFor = filters.map(({ dependsOn }) => dependsOn);
      expect(waitsFor).toEqual([[], ...filters.slice(0, -1).map(({ logicalId }) => [logicalId])]);
    }
  });
});

interface Violation {
  readonly ruleName: string;
  readonly violatingConstructs: readonly { readonly constructPath?: string }[];
}

/** Findings of cdk-nag and of CloudFormation's rules, and our own warnings. */
function findings(assembly: string) {
  const { pluginReports } = JSON.parse(readFileSync(join(assembly, 'validation-report.json'), 'utf8'));
  const violations: Violation[] = pluginReports.flatMap(
    (report: { readonly violations: Violation[] }) => report.violations,
  );
  const found = violations.flatMap(({ ruleName, violatingConstructs }) =>
    violatingConstructs.map(({ constructPath = '' }) => ({ rule: ruleName, path: constructPath })),
  );
  const isWarning = ({ rule }: { readonly rule: string }) => rule.startsWith('Annotation::partner-webhooks:');
  const warnings = found.filter(isWarning).map(({ rule }) => rule.split(':').at(-1));
  return { warnings: warnings.sort(), others: found.filter((finding) => !isWarning(finding)) };
}

describe('cdk-nag', () => {
  test.each(Object.keys(stages))('finds nothing in the stage %s that is not acknowledged', async (stage) => {
    const folder = await stageAssembly(stage);
    const keepsDataAndSaysNothing = ['prod', 'encrypted'].includes(stage);
    const warnings = Object.keys(warningTable).filter(
      (id) => keepsDataAndSaysNothing && id !== 'wildcard-invalidations',
    );
    expect(findings(folder)).toEqual({ warnings: warnings.toSorted(), others: [] });
    // CloudFormation stores a question mark for any other character. So `cdk diff` would report a change for ever.
    const text = readFileSync(join(folder, `${stackNameOf(stage)}.template.json`), 'utf8');
    expect(text.match(/.{0,30}[^\n -~].{0,30}/g)).toBeNull();
  });

  test('finds the acknowledged problems without acknowledgements: it runs, and no acknowledgement is unused', async () => {
    const assemblies = [await stageAssembly('prod', false), await stageAssembly('every-setting', false)];
    const found = assemblies.flatMap((assembly) => findings(assembly).others);
    const rules = found.map(({ rule }) => rule.replace(/\[.*/, ''));
    const solutions = ['APIG2', 'APIG4', 'APIG6', 'COG4', 'IAM5', 'S1', 'SMG4', 'SQS3'];
    const functions = ['LambdaDLQ', 'LambdaEventSourceMappingDestination', 'LambdaTracing'];
    expect([...new Set(rules)].sort()).toEqual([
      ...solutions.map((rule) => `AwsSolutions-${rule}`),
      'Serverless-APIGWXrayEnabled',
      ...functions.map((rule) => `Serverless-${rule}`),
      ...['SNS', 'SQS'].map((service) => `Serverless-${service}RedrivePolicy`),
    ]);
  });
});
