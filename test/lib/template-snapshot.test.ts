import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { expectCheckedIn } from '../support/checked-in.ts';
import { stageAssembly } from './stage-assembly.ts';
import { SynthesisedTemplate } from './synthesised-template.ts';

/** Changes with the functions' code: the keys of assets, and the logical ids of versions. */
const CODE_HASH = /[0-9a-f]{64}|(?<=CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g;

describe.each(['dev', 'prod'] as const)('the template of %s', (stage) => {
  test('is the one that is checked in: whatever changes it is seen in review', async () => {
    const file = join(await stageAssembly(stage), `PartnerWebhooks-${stage}.template.json`);
    const template = JSON.parse(readFileSync(file, 'utf8').replaceAll(CODE_HASH, 'HASH'));
    for (const resource of Object.values<{ Metadata?: unknown }>(template.Resources))
      delete resource.Metadata;
    expectCheckedIn(`test/lib/snapshots/${stage}.json`, `${JSON.stringify(template, null, 2)}\n`);
  }, 120_000);
});

/**
 * Resources that hold what cannot be made again, or whose address others know, with the properties of which
 * a change makes CloudFormation replace them. Source: "Update requires: Replacement" in its resource reference.
 */
const REPLACED_BY: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGatewayV2::Api': ['ProtocolType'],
  'AWS::ApiGatewayV2::DomainName': ['DomainName'],
  'AWS::DynamoDB::Table': [
    'AttributeDefinitions',
    'ImportSourceSpecification',
    'KeySchema',
    'LocalSecondaryIndexes',
    'TableName',
  ],
  'AWS::KMS::Key': ['KeySpec', 'KeyUsage', 'MultiRegion', 'Origin'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::S3::Bucket': ['BucketName', 'BucketNamePrefix'],
  'AWS::SNS::Topic': ['FifoTopic', 'TopicName'],
  'AWS::SQS::Queue': ['FifoQueue', 'QueueName'],
  // Another specification makes another secret, without a replacement.
  'AWS::SecretsManager::Secret': ['GenerateSecretString', 'Name'],
};

test('no deployment replaces what holds data or is known by its address', async () => {
  const templates = await Promise.all(
    ['prod', 'every-setting'].map(async (stage) => new SynthesisedTemplate(await stageAssembly(stage))),
  );
  const resources = new Map(
    templates.flatMap((one) => one.resources.map((resource) => [resource.logicalId, resource])),
  );
  const lines = [...resources.values()]
    .filter(({ type }) => Object.hasOwn(REPLACED_BY, type))
    .map(({ type, logicalId, properties }) => {
      const fixed = (REPLACED_BY[type] ?? [])
        .filter((name) => properties[name] !== undefined)
        .map((name) => `${name}=${JSON.stringify(properties[name])}`);
      return [type, logicalId, ...fixed].join(' ');
    });
  expect(lines.length).toBeGreaterThan(Object.keys(REPLACED_BY).length);
  expectCheckedIn('test/lib/snapshots/stateful.txt', `${lines.sort().join('\n')}\n`);
}, 120_000);
