import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';
import { SynthesisedTemplate } from './synthesised-template.ts';

/**
 * Changes with the functions’ code: the keys of assets, and the logical ids of versions. What is before
 * the hash of an id may end in digits, which could be of the hash: it is known by its end.
 */
const CODE_HASH = /[0-9a-f]{64}|(?<=CurrentVersion[0-9A-F]{8})[0-9a-f]{32}(?![0-9a-f])/g;

/** The template of an assembly, without what only the functions' code or the CDK's own book-keeping changes. */
export function templateSnapshot(assembly: string): string {
  const file = join(assembly, `${readCloudAssembly(assembly).name}.template.json`);
  const template = JSON.parse(readFileSync(file, 'utf8').replaceAll(CODE_HASH, 'HASH'));
  for (const resource of Object.values<{ Metadata?: unknown }>(template.Resources)) delete resource.Metadata;
  return `${JSON.stringify(template, null, 2)}\n`;
}

/**
 * Resources that hold what cannot be made again, or whose address others know, with the properties of which
 * a change makes CloudFormation replace them. Source: "Update requires: Replacement" in its resource reference.
 */
const REPLACED_BY: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGateway::RestApi': [],
  'AWS::ApiGateway::Stage': ['StageName'],
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

/**
 * A line for each resource that must not be replaced, with what would replace it: a line that changes is data
 * lost, or an address that leads nowhere.
 * @throws Error if no assembly has a resource of one of the types
 */
export function statefulResources(assemblies: readonly string[]): string {
  const resources = new Map(
    assemblies.flatMap((assembly) =>
      new SynthesisedTemplate(assembly).resources.map((resource) => [resource.logicalId, resource] as const),
    ),
  );
  const lines = Object.entries(REPLACED_BY).flatMap(([type, names]) => {
    const found = [...resources.values()].filter((resource) => resource.type === type);
    if (found.length === 0) throw new Error(`No template has a resource of the type ${type}`);
    return found.map(({ logicalId, properties }) => {
      const fixed = names
        .filter((name) => properties[name] !== undefined)
        .map((name) => `${name}=${JSON.stringify(properties[name])}`);
      return [type, logicalId, ...fixed].join(' ');
    });
  });
  return `${lines.sort().join('\n')}\n`;
}
