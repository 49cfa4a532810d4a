import { SynthesisedTemplate } from 'local-aws/synthesised-template';

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
 * A line for each resource that must not be replaced, with the values that would replace it if changed, and for each
 * output. If a line changes, data is lost, or an address or a script breaks.
 * @throws Error if no assembly has a resource of one of the types
 */
export function statefulResources(assemblies: readonly string[]): string {
  const templates = assemblies.map((assembly) => new SynthesisedTemplate(assembly));
  const resources = new Map(
    templates.flatMap((template) =>
      template.resources.map((resource) => [resource.logicalId, resource] as const),
    ),
  );
  const outputs = new Set(templates.flatMap((template) => Object.keys(template.outputs)));
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
  return `${[...lines, ...[...outputs].map((name) => `Output ${name}`)].sort().join('\n')}\n`;
}
