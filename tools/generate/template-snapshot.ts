import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';
import { SynthesisedTemplate } from './synthesised-template.ts';

/**
 * Changes with the functions’ code: the keys of assets, and the logical ids of versions. What is before
 * the hash of an id may end in digits, which could be of the hash: it is known by its end.
 */
const CODE_HASH = /[0-9a-f]{64}|(?<=CurrentVersion[0-9A-F]{8})[0-9a-f]{32}(?![0-9a-f])/g;

/** The template of an assembly, without what only the functions' code or the CDK's own book-keeping changes. */
export function templateSnapshot(assembly: string): string {
  return `${JSON.stringify(maskedTemplate(assembly), null, 2)}\n`;
}

function maskedTemplate(assembly: string, mask: (text: string) => string = (text) => text): Template {
  const file = join(assembly, `${readCloudAssembly(assembly).name}.template.json`);
  const template = JSON.parse(mask(readFileSync(file, 'utf8').replaceAll(CODE_HASH, 'HASH')));
  for (const resource of Object.values<{ Metadata?: unknown }>(template.Resources)) delete resource.Metadata;
  return template;
}

/** Resources, outputs and the rest, each by its logical id. */
type Template = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * How the template of a stage differs from that of another stage: each change as `path old → new`, below it the logical
 * ids that have it. What is equal but for the stage's name in it is no difference. Any other change of the new template
 * changes these lines, if it does not change the old template in the same way.
 */
export function templateDifferences(stages: { readonly from: string; readonly to: string }): string {
  const [from, to] = [stages.from, stages.to].map((assembly) => {
    const stage = readCloudAssembly(assembly).name.replace('PartnerWebhooks-', '');
    const names = new RegExp(`(?<=PartnerWebhooks-|partnerwebhooks_|--stage )${stage}\\b`, 'g');
    return maskedTemplate(assembly, (text) => text.replaceAll(names, 'STAGE'));
  }) as [Template, Template];
  const changed = new Map<string, string[]>();
  for (const section of keysOf(from, to)) {
    for (const id of keysOf(from[section] ?? {}, to[section] ?? {})) {
      const changes = changesOf(from[section]?.[id], to[section]?.[id], []).join('\n');
      if (changes !== '') changed.set(changes, [...(changed.get(changes) ?? []), `${section}.${id}`]);
    }
  }
  const blocks = Array.from(changed, ([changes, ids]) => [changes, ...ids.map((id) => `  ${id}`)].join('\n'));
  return `${blocks.join('\n\n')}\n`;
}

/** The changes from a value to another one; `path` leads there. */
function changesOf(from: unknown, to: unknown, path: readonly string[]): string[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (isContainer(from) && isContainer(to) && lengthOf(from) === lengthOf(to)) {
    return keysOf(from, to).flatMap((key) => changesOf(from[key], to[key], [...path, key]));
  }
  const change = to === undefined ? 'is missing' : `${from === undefined ? '' : old(from)}→ ${textOf(to)}`;
  return [[...path, change].join(' ')];
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
const lengthOf = (value: object) => (Array.isArray(value) ? value.length : undefined);
const keysOf = (from: object, to: object) => [...new Set([...Object.keys(from), ...Object.keys(to)])];

/** Of a long value its hash is enough to see that it changes. */
function textOf(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= MAX_SHOWN) return text;
  return `${text.length} characters, SHA-256 ${createHash('sha256').update(text).digest('hex')}`;
}

/** The snapshot has the old value. */
const old = (value: unknown) => (isContainer(value) ? '' : `${JSON.stringify(value)} `);

/** In characters. */
const MAX_SHOWN = 2_000;

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
