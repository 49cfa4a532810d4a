import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import type { SynthesisedTemplate, TemplateResource } from 'local-aws/synthesised-template';
import { stages } from '../../bin/stages.ts';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { stageTemplate, templateOf } from './stage-assembly.ts';

const home = { account: '111122223333', region: 'eu-central-1' };
const keyArn = `arn:aws:kms:${home.region}:${home.account}:key/0a1b2c3d-0000-4000-8000-000000000008`;
const secretArn = `arn:aws:secretsmanager:${home.region}:${home.account}:secret:partner-AbCdEf`;

/** The property with the key, for each type that stores received data. */
const KEY_OF: Readonly<Record<string, (resource: TemplateResource) => unknown>> = {
  'AWS::DynamoDB::Table': ({ properties }) => properties.SSESpecification?.KMSMasterKeyId,
  'AWS::KinesisFirehose::DeliveryStream': ({ properties }) =>
    properties.DeliveryStreamEncryptionConfigurationInput.KeyARN,
  'AWS::Logs::LogGroup': ({ properties }) => properties.KmsKeyId,
  'AWS::S3::Bucket': ({ properties }) =>
    properties.BucketEncryption?.ServerSideEncryptionConfiguration[0].ServerSideEncryptionByDefault
      .KMSMasterKeyID,
  'AWS::SNS::Topic': ({ properties }) => properties.KmsMasterKeyId,
  'AWS::SQS::Queue': ({ properties }) => properties.KmsMasterKeyId,
  'AWS::SecretsManager::Secret': ({ properties }) => properties.KmsKeyId,
};

/** Types that store no received data. A new type must be added here or above. */
const WITHOUT_DATA = [
  /^AWS::ApiGatewayV2::/,
  /^AWS::Athena::/,
  /^AWS::CDK::Metadata$/,
  /^AWS::CloudWatch::/,
  /^AWS::CodeDeploy::/,
  /^AWS::Glue::/,
  /^AWS::IAM::/,
  /^AWS::KMS::Key$/,
  /^AWS::Lambda::/,
  /^AWS::Logs::(LogStream|MetricFilter)$/,
  /^AWS::\w+::\w+Policy$/,
  /^Custom::SmokeTest$/,
];

/** Resources that use another key than `key`, or none. */
const notUnder = (template: SynthesisedTemplate, key: unknown) =>
  template.resources
    .filter((resource) => {
      const keyOf = KEY_OF[resource.type];
      return keyOf !== undefined && JSON.stringify(keyOf(resource)) !== JSON.stringify(key);
    })
    .map(({ path }) => path);

/** Permissions of a role on keys, as `action resource condition`, sorted. */
const keyGrants = (template: SynthesisedTemplate, path: string) =>
  template
    .permissionsOf(template.at('AWS::IAM::Role', path))
    .filter(({ action }) => action.startsWith('kms:'))
    .map(({ action, resource, condition }) => `${action} ${resource} ${condition}`);

/**
 * The one grant of a key, in the format of `keyGrants`.
 * @param services restricts the use to calls through them.
 * @default no restriction
 */
const decryptAndGenerate = (key: string, services?: readonly string[]) => {
  const via = services?.map((service) => `${service}.${home.region}.amazonaws.com`);
  const condition = JSON.stringify({
    StringEquals: { 'kms:CallerAccount': { Ref: 'AWS::AccountId' }, ...(via && { 'kms:ViaService': via }) },
  });
  return [`kms:Decrypt ${key} ${condition}`, `kms:GenerateDataKey ${key} ${condition}`];
};

const isForAlarms = (statement: unknown) => JSON.stringify(statement).includes('cloudwatch.amazonaws.com');
const template = await stageTemplate('encrypted');
const key = template.at('AWS::KMS::Key', 'TopicKey');

describe('a stage with its own key', () => {
  test('reports a disabled key: the alarm topic has another key', () => {
    const alarmKey = template.at('AWS::KMS::Key', 'AlarmKey');
    const topic = template.at('AWS::SNS::Topic', 'Alarms/Topic');
    expect(topic.properties.KmsMasterKeyId).toEqual({ 'Fn::GetAtt': [alarmKey.logicalId, 'Arn'] });
  });

  test('encrypts everything that holds data, and it is known of every resource whether it does', () => {
    for (const type of Object.keys(KEY_OF)) expect(template.has(type)).toBe(true);
    expect(notUnder(template, { 'Fn::GetAtt': [key.logicalId, 'Arn'] })).toEqual(['Alarms/Topic']);
    const unknown = template.resources
      .map(({ type }) => type)
      .filter((type) => !(type in KEY_OF) && !WITHOUT_DATA.some((known) => known.test(type)));
    expect(new Set(unknown)).toEqual(new Set());
  });

  test('has the policy that examples/encryption-key-policy.json has for an existing key', async () => {
    const policy = await readFile('examples/encryption-key-policy.json', 'utf8');
    const { Statement } = key.properties.KeyPolicy;
    const lasting = Statement.filter((statement: unknown) => !isForAlarms(statement));
    expect(lasting).toHaveLength(Statement.length - 1);
    expect(lasting).toEqual(
      JSON.parse(policy.replaceAll('PartnerWebhooks-prod', 'PartnerWebhooks-encrypted')).Statement,
    );
  });

  test('lets each role use it through the services that it calls, and nobody else', () => {
    const [decrypt = '', generate = ''] = decryptAndGenerate('TopicKey', ['s3']);
    const roles = template.ofType('AWS::IAM::Role').map(({ path }) => path);
    const grants = Object.fromEntries(
      roles.map((path) => [path, keyGrants(template, path)] as const).filter(([, own]) => own.length > 0),
    );
    expect(grants).toEqual({
      'Receiver/Role': decryptAndGenerate('TopicKey', ['s3', 'secretsmanager', 'sqs']),
      'SmokeTest/Tester/Role': decryptAndGenerate('TopicKey', ['secretsmanager']),
      // Firehose creates its own grant.
      'Archive/Writer': [
        'kms:CreateGrant TopicKey {"Bool":{"kms:GrantIsForAWSResource":"true"}}',
        decrypt,
        generate,
      ],
      // Firehose may not say that it calls for the consumer, so no service is named.
      ...Object.fromEntries(
        eventNames.map((event) => [`${pascalCase(event)}/Consumer/Role`, decryptAndGenerate('TopicKey')]),
      ),
    });
  });

  test('encrypts nothing before every role may use the key, so that a deployment rejects no delivery', () => {
    const grants = template.resources
      .filter(({ type, path }) => type === 'AWS::IAM::Policy' && /\/KeyPolicy-\w+$/.test(path))
      .map(({ logicalId }) => logicalId);
    expect(grants).toHaveLength(3 + eventNames.length);
    const early = template.resources
      .filter(({ type, path }) => type in KEY_OF && path !== 'Alarms/Topic')
      .filter(({ dependsOn }) => !grants.every((grant) => dependsOn.includes(grant)));
    expect(early.map(({ path }) => path)).toEqual([]);
  });
});

test('an existing key encrypts everything, next to keys of an existing secret and of alarms, and no key is created for data', async () => {
  const own = await templateOf('own', { ...stages.encrypted, encryption: { keyArn }, secretArn });
  expect(own.ofType('AWS::KMS::Key').map(({ path }) => path)).toEqual(['AlarmKey']);
  expect(notUnder(own, keyArn)).toEqual(['Alarms/Topic']);
  expect(keyGrants(own, 'Receiver/Role')).toEqual(
    decryptAndGenerate(keyArn, ['s3', 'secretsmanager', 'sqs']),
  );
});
