import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';
import { SynthesisedTemplate } from './synthesised-template.ts';

/**
 * Parts that change with the functions’ code: the keys of assets, and the logical ids of versions. The part before the
 * hash may end in digits that look like a hash, so the pattern is anchored at the end.
 */
const CODE_HASH = /[0-9a-f]{64}|(?<=CurrentVersion[0-9A-F]{8})[0-9a-f]{32}(?![0-9a-f])/g;

/** The template of an assembly, without the parts that depend only on the functions' code or on CDK metadata. */
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
 * The differences between the templates of two stages: each change as `path old → new`, and below it the logical ids
 * that have it. Values that differ only in the stage's name count as equal. Together with the old template, these lines
 * show any change of the new template, unless the old one changes in the same way.
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

/** The changes from one value to another at `path`. */
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

/** A long value is replaced by its hash, which is enough to detect a change. */
function textOf(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= MAX_SHOWN) return text;
  return `${text.length} characters, SHA-256 ${createHash('sha256').update(text).digest('hex')}`;
}

/** The snapshot already contains the old value. */
const old = (value: unknown) => (isContainer(value) ? '' : `${JSON.stringify(value)} `);

/** In characters. */
const MAX_SHOWN = 2_000;

/**
 * Resources with data that cannot be recreated, or with an address that others know. For each, the properties whose
 * change makes CloudFormation replace it. Source: "Update requires: Replacement" in its resource reference.
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
  // Another specification creates another secret, without a replacement.
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
