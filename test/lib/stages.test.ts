import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { TemplateResource } from 'local-aws/synthesised-template';
import { MAX_PATHS_BYTES } from '../../lib/config.ts';
import { only, stageTemplate } from './stage-assembly.ts';

const prod = await stageTemplate('prod');
const dev = await stageTemplate('dev');
const everySetting = await stageTemplate('every-setting');

const except = (resources: readonly TemplateResource[], meets: (resource: TemplateResource) => boolean) =>
  resources.filter((resource) => !meets(resource)).map(({ path }) => path);

test.each([
  'AWS::DynamoDB::Table',
  'AWS::KMS::Key',
  'AWS::Lambda::Version',
  'AWS::Logs::LogGroup',
  'AWS::S3::Bucket',
  'AWS::S3::BucketPolicy',
  'AWS::SQS::Queue',
  'AWS::SQS::QueuePolicy',
  'AWS::SecretsManager::Secret',
])(
  'every %s is retained when prod deletes its stack or replaces it, unless it only gets probes, and deleted in dev',
  (type) => {
    // Resources of a failed first deployment are deleted. A protected table cannot be deleted. A version must be
    // deleted: a remaining version would prevent a new deployment of its code, because a version is published once.
    const kept = type === 'AWS::DynamoDB::Table' ? 'Retain' : 'RetainExceptOnCreate';
    const isKept = ({ path, deletionPolicy, updateReplacePolicy }: TemplateResource) =>
      path.startsWith('SmokeTestQueue')
        ? deletionPolicy === 'Delete'
        : deletionPolicy === kept && updateReplacePolicy === 'Retain';
    expect(except(prod.ofType(type), isKept)).toEqual([]);
    expect(except(dev.ofType(type), ({ deletionPolicy }) => deletionPolicy === 'Delete')).toEqual([]);
  },
);

test('prod, unlike dev, refuses to delete a table or its stack', () => {
  const refuses = ({ properties }: TemplateResource) => properties.DeletionProtectionEnabled;
  expect(new Set(prod.ofType('AWS::DynamoDB::Table').map(refuses))).toEqual(new Set([true]));
  expect(new Set(dev.ofType('AWS::DynamoDB::Table').map(refuses))).toEqual(new Set([false]));
  expect([prod.terminationProtection, dev.terminationProtection]).toEqual([true, false]);
});

describe('the canary', () => {
  const alarms = prod.ofType('AWS::CloudWatch::Alarm').filter(({ path }) => path.startsWith('Canaries/'));
  const versionOf = ({ properties }: TemplateResource) =>
    properties.Dimensions.find(({ Name }: { Name: string }) => ['ExecutedVersion', 'version'].includes(Name))
      .Value;

  test('shifts a tenth of the receiver’s traffic for five minutes, and is the only one', () => {
    const [group, ...others] = prod.ofType('AWS::CodeDeploy::DeploymentGroup');
    expect(others).toEqual([]);
    expect(group?.properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent5Minutes');
    const shifted = prod
      .ofType('AWS::Lambda::Alias')
      .filter(({ updatePolicy }) => updatePolicy !== undefined)
      .map(({ path, updatePolicy }) => [
        path,
        prod.referred(updatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName),
      ]);
    expect(shifted).toEqual([['Receiver/Function/Aliaslive', group?.path]]);
  });

  test('rolls the receiver back if its new version fails, whatever the old one does', () => {
    const { AlarmConfiguration, AutoRollbackConfiguration } = only(prod, 'AWS::CodeDeploy::DeploymentGroup');
    expect(AlarmConfiguration.Enabled).toBe(true);
    expect(AutoRollbackConfiguration).toEqual({
      Enabled: true,
      Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_FAILURE']),
    });
    const watching: string[] = AlarmConfiguration.Alarms.map(({ Name }: { Name: unknown }) =>
      prod.referred(Name),
    );
    expect(watching.sort()).toEqual(alarms.map(({ path }) => path).sort());
    const watched = alarms.map((alarm) => [alarm.properties.MetricName, prod.referred(versionOf(alarm))]);
    const version = 'Receiver/Function/CurrentVersion';
    expect(watched).toEqual([
      ['VersionError', version],
      ['Errors', version],
    ]);
    // Each version has its own alarm, which does not begin in the state of an older one.
    for (const alarm of alarms) {
      const name = alarm.path.replace('Canaries/', 'PartnerWebhooks-prod-');
      expect(alarm.properties.AlarmName).toEqual({ 'Fn::Join': ['', [`${name}-`, versionOf(alarm)]] });
    }
  });
});

test('a synthesis is refused in one message: for a secret of another account than the credentials’', async () => {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const secretArn = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:partner-AbCdEf';
  // Starts the app as `cdk synth` does.
  const synthesis = promisify(execFile)(process.execPath, ['bin/app.ts'], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      CDK_DEFAULT_ACCOUNT: '444455556666',
      CDK_DEFAULT_REGION: 'eu-central-1',
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, stages: { dev: { secretArn } } }),
    },
  });
  await expect(synthesis).rejects.toMatchObject({
    stderr: expect.stringContaining("secretArn: must be of the stage's account, 444455556666"),
  });
});

describe('a setting has its effect', () => {
  const settings = JSON.parse(readFileSync('bin/every-setting.json', 'utf8'));
  const { domain, receiver } = settings;
  const shops = settings.events['shop.updated'];
  const functionAt = (path: string) => everySetting.at('AWS::Lambda::Function', path).properties;

  test('each value is in the template, except choices such as the gateway', () => {
    const text = JSON.stringify(everySetting.resources.map(({ properties }) => properties));
    const leaves = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];
    const { acknowledgedWarnings: _, removalPolicy: _r, deployment: _d, gateway: _g, ...written } = settings;
    const isWritten = (value: unknown) =>
      typeof value === 'string'
        ? text.includes(value) || text.includes(encodeURIComponent(value))
        : value === false || new RegExp(`[":]${value}["},]`).test(text);
    expect(leaves(written).filter((value) => !isWritten(value))).toEqual([]);
  });

  test('memory, timeout, concurrency and ignored events are those of their function', () => {
    expect(functionAt('Receiver/Function')).toMatchObject({
      MemorySize: receiver.memory,
      ReservedConcurrentExecutions: receiver.reservedConcurrency,
      Environment: { Variables: { IGNORED_EVENTS: JSON.stringify(settings.ignoredEvents) } },
    });
    expect(functionAt('ShopUpdated/Consumer/Function')).toMatchObject({
      MemorySize: shops.memory,
      Timeout: shops.timeout,
    });
  });

  test('secretArn: only the receiver and the smoke test may read it, and no secret is created', () => {
    expect(everySetting.outputs.WebhookSecretArn?.Value).toBe(settings.secretArn);
    expect(everySetting.has('AWS::SecretsManager::Secret')).toBe(false);
    const readers = everySetting.ofType('AWS::IAM::Role').flatMap((role) =>
      everySetting
        .permissionsOf(role)
        .filter(({ action }) => action === 'secretsmanager:GetSecretValue')
        .map(({ resource }) => `${role.path} ${resource}`),
    );
    const expected = ['Receiver/Role', 'SmokeTest/Tester/Role'].map(
      (role) => `${role} ${settings.secretArn}`,
    );
    expect(new Set(readers)).toEqual(new Set(expected));
  });

  test('domain: the contract’s path leads to the REST API, and the default endpoint is off', () => {
    expect(everySetting.outputs.WebhookUrl?.Value).toBe(`https://${domain.name}/api/v1/webhooks/partner`);
    const { ApiId, ApiMappingKey, Stage } = only(everySetting, 'AWS::ApiGatewayV2::ApiMapping');
    expect([ApiId, Stage].map((reference) => everySetting.referred(reference))).toEqual([
      'Api/RestApi',
      'Api/RestApi/DeploymentStage.api',
    ]);
    expect(ApiMappingKey).toBe('api');
    expect(only(everySetting, 'AWS::ApiGateway::RestApi').DisableExecuteApiEndpoint).toBe(true);
  });

  test('domain: its certificates, TLS 1.2, and client certificates of the trust store', () => {
    const { bucket, key, version } = domain.mutualTls;
    expect(only(everySetting, 'AWS::ApiGatewayV2::DomainName')).toMatchObject({
      DomainName: domain.name,
      DomainNameConfigurations: [
        {
          CertificateArn: domain.certificateArn,
          OwnershipVerificationCertificateArn: domain.ownershipCertificateArn,
          SecurityPolicy: 'TLS_1_2',
        },
      ],
      MutualTlsAuthentication: { TruststoreUri: `s3://${bucket}/${key}`, TruststoreVersion: version },
    });
  });

  // A queue's name has up to 80 characters, any other name up to 255. Sources: Lambda quotas, "Environment variables"; SQS
  // quotas, "Queue name".
  const LONGEST_QUEUE_URL = 'https://sqs.ap-southeast-1.amazonaws.com/123456789012/'.length + 80;
  test.each([
    ['ShopUpdated/Consumer/Function', 'INVALIDATION_PATHS', MAX_PATHS_BYTES],
    ['Receiver/Function', 'IGNORED_EVENTS', 16 * '"",'.length + 16 * 64],
  ])('all environment variables of %s have room in 4 KB', (path, setting, longest) => {
    const bytes = Object.entries(functionAt(path).Environment.Variables).map(([name, value]) => {
      if (name === setting) return name.length + longest;
      if (typeof value === 'string') return name.length + value.length;
      return name.length + (name.includes('QUEUE_URL') ? LONGEST_QUEUE_URL : 255);
    });
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(4_096);
  });

  test('chat: Slack and Teams show notifications, and give nobody in a channel any rights in the account', () => {
    const slack = only(everySetting, 'AWS::Chatbot::SlackChannelConfiguration');
    const teams = only(everySetting, 'AWS::Chatbot::MicrosoftTeamsChannelConfiguration');
    for (const { SnsTopicArns, GuardrailPolicies, IamRoleArn } of [slack, teams]) {
      expect(everySetting.referred(SnsTopicArns[0])).toBe('Effects/Chat');
      expect(GuardrailPolicies).toEqual([
        { 'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':iam::aws:policy/AWSDenyAll']] },
      ]);
      const role = everySetting.at('AWS::IAM::Role', everySetting.referred(IamRoleArn));
      expect(everySetting.statementsOf(role)).toEqual([]);
    }
  });
});
