import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Json = Record<string, unknown>;

export interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Principal?: unknown;
  readonly Condition?: unknown;
}

/** A resource of the template. */
export interface Resource {
  readonly logicalId: string;
  /** Its construct's path below the stack, such as `ShopUpdated/Queue`. */
  readonly path: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a property has whatever shape CloudFormation gives it.
  readonly properties: any;
  readonly deletionPolicy: string | undefined;
}

/** A synthesised template, its resources known by their construct's path and not by a hashed name. */
export class SynthesisedTemplate {
  readonly resources: readonly Resource[];
  readonly outputs: Readonly<Record<string, { readonly Value: unknown }>>;
  readonly terminationProtection: boolean;

  /** @param assembly folder of a cloud assembly that holds one stack */
  constructor(assembly: string) {
    const read = (file: string) => JSON.parse(readFileSync(join(assembly, file), 'utf8'));
    const stack = Object.values<Json>(read('manifest.json').artifacts).find(
      ({ type }) => type === 'aws:cloudformation:stack',
    ) as { properties: Json; additionalMetadataFile: string };
    const paths = pathsByLogicalId(read(stack.additionalMetadataFile));
    const template = read(String(stack.properties.templateFile));
    this.resources = Object.entries<Json>(template.Resources).map(([logicalId, resource]) => ({
      logicalId,
      path: paths.get(logicalId) ?? logicalId,
      type: String(resource.Type),
      properties: resource.Properties ?? {},
      deletionPolicy: resource.DeletionPolicy as string | undefined,
    }));
    this.outputs = template.Outputs;
    this.terminationProtection = stack.properties.terminationProtection === true;
  }

  /** @throws Error where the template has none: a requirement on "every" resource must not hold for none */
  ofType(type: string): Resource[] {
    const found = this.resources.filter((resource) => resource.type === type);
    if (found.length === 0) throw new Error(`The template has no ${type}`);
    return found;
  }

  /** The one resource of a type at a construct's path. */
  at(type: string, path: string): Resource {
    const found = this.ofType(type).find((resource) => resource.path === path);
    if (found === undefined) throw new Error(`The template has no ${type} at ${path}`);
    return found;
  }

  /** The path of the resource that a `Ref` or an `Fn::GetAtt` refers to. */
  referred(reference: unknown): string {
    const { Ref, 'Fn::GetAtt': getAtt } = (reference ?? {}) as { Ref?: string; 'Fn::GetAtt'?: string[] };
    const logicalId = Ref ?? getAtt?.[0];
    const resource = this.resources.find((candidate) => candidate.logicalId === logicalId);
    if (resource === undefined) throw new Error(`Refers to no resource: ${JSON.stringify(reference)}`);
    return resource.path;
  }

  /** The statements that say what a role may do. */
  statementsOf(role: Resource): Statement[] {
    const attached = this.ofType('AWS::IAM::Policy').filter(({ properties }) =>
      properties.Roles.some((reference: unknown) => this.referred(reference) === role.path),
    );
    return [...attached.map(({ properties }) => properties), ...(role.properties.Policies ?? [])].flatMap(
      ({ PolicyDocument }) => PolicyDocument.Statement,
    );
  }

  /** All that the role of a function allows, one text for each action on each resource, sorted. */
  permissionsOf(functionPath: string): string[] {
    const { properties } = this.at('AWS::Lambda::Function', functionPath);
    const role = this.at('AWS::IAM::Role', this.referred(properties.Role));
    return this.statementsOf(role)
      .flatMap(({ Effect, Action, Resource, Condition }) =>
        listOf(Action).flatMap((action) =>
          listOf(Resource).map((resource) =>
            [
              ...(Effect === 'Allow' ? [] : [Effect]),
              `${action} on ${this.#arnOf(resource)}`,
              ...(Condition === undefined ? [] : [`if ${JSON.stringify(Condition)}`]),
            ].join(' '),
          ),
        ),
      )
      .sort();
  }

  /** The statements of the resource policies of a queue, a topic or a bucket. */
  resourcePolicyOf(target: Resource): Statement[] {
    return this.ofType(`${target.type}Policy`)
      .filter(({ properties: { Queues, Topics, Bucket } }) =>
        (Queues ?? Topics ?? [Bucket]).some((one: unknown) => this.referred(one) === target.path),
      )
      .flatMap(({ properties }) => properties.PolicyDocument.Statement);
  }

  /** The path of what an ARN names, with what follows the ARN; anything else as it is, which no expectation equals. */
  #arnOf(value: unknown): string {
    const { 'Fn::GetAtt': getAtt, 'Fn::Join': join } = value as {
      'Fn::GetAtt'?: [string, string];
      'Fn::Join'?: [string, [unknown, string]];
    };
    if (getAtt?.[1] === 'Arn' || this.#isReferenceToArn(value)) return this.referred(value);
    if (join?.[0] === '' && join[1].length === 2) return this.#arnOf(join[1][0]) + join[1][1];
    return JSON.stringify(value);
  }

  /** `Ref` gives the ARN of few types. */
  #isReferenceToArn(value: unknown): boolean {
    const { Ref } = value as { Ref?: string };
    const type = this.resources.find(({ logicalId }) => logicalId === Ref)?.type;
    return type === 'AWS::SNS::Topic' || type === 'AWS::SecretsManager::Secret';
  }
}

export function listOf<Item>(value: Item | readonly Item[]): readonly Item[] {
  return Array.isArray(value) ? value : [value as Item];
}

function pathsByLogicalId(metadata: Record<string, { type: string; data?: unknown }[]>): Map<string, string> {
  return new Map(
    Object.entries(metadata).flatMap(([path, entries]) =>
      entries
        .filter(({ type }) => type === 'aws:cdk:logicalId')
        .map(({ data }) => [String(data), belowStack(path)] as const),
    ),
  );
}

/** `/PartnerWebhooks-dev/ShopUpdated/Queue/Resource` → `ShopUpdated/Queue` */
function belowStack(path: string): string {
  return path.replace(/^\/[^/]+\//, '').replace(/\/Resource$/, '');
}
