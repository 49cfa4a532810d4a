import { onlyStack } from './cloud-assembly.ts';
import { WITH_ARN_AS_REF } from './intrinsics.ts';

type Metadata = Readonly<Record<string, readonly { readonly type: string; readonly data?: unknown }[]>>;

export interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Principal?: unknown;
  readonly Condition?: unknown;
}

/** One action that a role allows on one resource. */
interface RolePermission {
  readonly action: string;
  /** Path of the resource's construct, or its ARN if the stack does not contain it. */
  readonly resource: string;
  /** The condition as JSON. Empty without a condition. */
  readonly condition: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a property has whatever shape CloudFormation gives it.
type Untyped = any;

export interface TemplateResource {
  readonly logicalId: string;
  /** Path of the resource's construct below the stack, such as `Orders/Queue`. */
  readonly path: string;
  readonly type: string;
  readonly properties: Untyped;
  readonly deletionPolicy: string | undefined;
  readonly updateReplacePolicy: string | undefined;
  readonly updatePolicy: Untyped;
  /** Logical ids of resources that must be created before. */
  readonly dependsOn: readonly string[];
}

type Declaration = Readonly<
  { Type: string; DependsOn?: string | readonly string[] } & Partial<
    Record<'Properties' | 'UpdatePolicy', object> & Record<'DeletionPolicy' | 'UpdateReplacePolicy', string>
  >
>;

/**
 * A synthesised template. Resources are found by the path of their construct instead of a logical id, which
 * contains a hash.
 */
export class SynthesisedTemplate {
  readonly resources: readonly TemplateResource[];
  readonly outputs: Readonly<Record<string, { readonly Value: unknown }>>;
  readonly terminationProtection: boolean;

  /** @param assembly folder of a cloud assembly with one stack */
  constructor(assembly: string) {
    const { artifact, json } = onlyStack(assembly);
    const paths = pathsByLogicalId(json(artifact.additionalMetadataFile));
    const template = json(artifact.properties.templateFile);
    this.resources = Object.entries<Declaration>(template.Resources).map(([logicalId, resource]) => ({
      logicalId,
      path: paths.get(logicalId) ?? logicalId,
      type: resource.Type,
      properties: resource.Properties ?? {},
      deletionPolicy: resource.DeletionPolicy,
      updateReplacePolicy: resource.UpdateReplacePolicy,
      updatePolicy: resource.UpdatePolicy,
      dependsOn: listOf(resource.DependsOn ?? []),
    }));
    this.outputs = template.Outputs;
    this.terminationProtection = artifact.properties.terminationProtection === true;
  }

  /**
   * The resources of a type.
   * @throws Error if the template has no such resource, so that a check of all resources of a type cannot pass without
   * any
   */
  ofType(type: string): TemplateResource[] {
    const found = this.resources.filter((resource) => resource.type === type);
    if (found.length === 0) throw new Error(`The template has no ${type}`);
    return found;
  }

  has(type: string): boolean {
    return this.resources.some((resource) => resource.type === type);
  }

  /**
   * The only resource of a type at a construct's path.
   * @example template.at('AWS::SQS::Queue', 'Orders/Queue').properties
   */
  at(type: string, path: string): TemplateResource {
    const found = this.ofType(type).find((resource) => resource.path === path);
    if (found === undefined) throw new Error(`The template has no ${type} at ${path}`);
    return found;
  }

  /** The path of the resource that a `Ref` or an `Fn::GetAtt` refers to. */
  referred(reference: unknown): string {
    const { Ref, 'Fn::GetAtt': getAtt } = (reference ?? {}) as Untyped;
    const logicalId = Ref ?? getAtt?.[0];
    const resource = this.resources.find((candidate) => candidate.logicalId === logicalId);
    if (resource === undefined) throw new Error(`Refers to no resource: ${JSON.stringify(reference)}`);
    return resource.path;
  }

  statementsOf(role: TemplateResource): Statement[] {
    const attached = this.ofType('AWS::IAM::Policy').filter(({ properties }) =>
      properties.Roles.some((reference: unknown) => this.referred(reference) === role.path),
    );
    return [...attached.map(({ properties }) => properties), ...(role.properties.Policies ?? [])].flatMap(
      ({ PolicyDocument }) => PolicyDocument.Statement,
    );
  }

  /** All permissions of a role, one entry for each action on each resource, sorted. */
  permissionsOf(role: TemplateResource): RolePermission[] {
    const managed = (role.properties.ManagedPolicyArns ?? []).map((policy: unknown) => ({
      action: 'everything in',
      resource: this.#arnOf(policy),
      condition: '',
    }));
    return this.statementsOf(role)
      .flatMap(({ Effect, Action, Resource, Condition }) =>
        listOf(Action).flatMap((action) =>
          listOf(Resource).map((resource) => ({
            action: Effect === 'Allow' ? action : `${Effect} ${action}`,
            resource: this.#arnOf(resource),
            condition: Condition === undefined ? '' : JSON.stringify(Condition),
          })),
        ),
      )
      .concat(managed)
      .sort((a, b) => `${a.action} ${a.resource}`.localeCompare(`${b.action} ${b.resource}`));
  }

  /**
   * The construct's path of the resource in an ARN, with the text that follows it. A pseudo parameter becomes
   * `<AWS::AccountId>`.
   */
  #arnOf(value: unknown): string {
    if (typeof value === 'string') return value;
    const { Ref: ref, 'Fn::GetAtt': getAtt, 'Fn::Join': join } = value as Untyped;
    if (ref?.startsWith('AWS::')) return `<${ref}>`;
    const type = this.resources.find(({ logicalId }) => logicalId === ref)?.type ?? '';
    if (getAtt?.[1] === 'Arn' || WITH_ARN_AS_REF.includes(type)) return this.referred(value);
    if (join?.[0] === '') return join[1].map((part: unknown) => this.#arnOf(part)).join('');
    throw new Error(`Not an ARN: ${JSON.stringify(value)}`);
  }
}

export function listOf<Item>(value: Item | readonly Item[]): readonly Item[] {
  return Array.isArray(value) ? value : [value as Item];
}

/** Paths below the stack: `/Shop/Orders/Queue/Resource` becomes `Orders/Queue`. */
function pathsByLogicalId(metadata: Metadata): Map<string, string> {
  return new Map(
    Object.entries(metadata).flatMap(([path, entries]) =>
      entries
        .filter(({ type }) => type === 'aws:cdk:logicalId')
        .map(({ data }) => [String(data), path.replace(/^\/[^/]+\/|\/Resource$/g, '')] as const),
    ),
  );
}
