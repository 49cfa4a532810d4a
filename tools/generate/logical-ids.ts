import { SynthesisedTemplate } from 'local-aws/template';
import { type Assemblies, derivedFrom } from './assemblies.ts';

/** The part of a version's logical id that changes with the function's code. */
const CODE_HASH = /(?<=CurrentVersion[0-9A-F]{8})[0-9a-f]{32}$/;

/**
 * A line for each resource with its type, and for each output. If not every stage has the resource, the line ends with
 * the stages that do. An unexpected line is a resource that CloudFormation would create, replace or delete.
 */
export function logicalIds(assemblies: Assemblies): string {
  const stagesOf = new Map<string, string[]>();
  for (const stage of derivedFrom) {
    const { resources, outputs } = new SynthesisedTemplate(assemblies[stage]);
    for (const line of [
      ...resources.map(({ type, logicalId }) => `${type} ${logicalId.replace(CODE_HASH, 'HASH')}`),
      ...Object.keys(outputs).map((name) => `Output ${name}`),
    ]) {
      stagesOf.set(line, [...(stagesOf.get(line) ?? []), stage]);
    }
  }
  const lines = Array.from(stagesOf, ([line, stages]) =>
    stages.length === derivedFrom.length ? line : `${line} (${stages.join(', ')})`,
  );
  return `${lines.sort().join('\n')}\n`;
}

/**
 * Resources with data that cannot be recreated, or with an address that others know. For each, the properties whose
 * change makes CloudFormation replace it. Source: CloudFormation template reference, "Update requires: Replacement".
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
  // A change of this property generates another secret, although CloudFormation does not replace the resource.
  'AWS::SecretsManager::Secret': ['GenerateSecretString', 'Name'],
};

/**
 * A line for each resource that must not be replaced, with the values that would replace it if changed. If a line
 * changes, data is lost or an address breaks.
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
