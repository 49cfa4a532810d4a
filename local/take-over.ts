import { type AnyResource, type Resources, rolePolicies } from './template/resources.ts';

/** Types of which a new one can be made while the stack runs. */
const CREATABLE: ReadonlySet<string> = new Set([
  'AWS::CloudWatch::Alarm',
  'AWS::DynamoDB::Table',
  'AWS::IAM::Role',
  'AWS::KinesisFirehose::DeliveryStream',
  'AWS::Lambda::Alias',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Function',
  'AWS::S3::Bucket',
  'AWS::SNS::Topic',
  'AWS::SQS::Queue',
  'AWS::SecretsManager::Secret',
]);

/** Types of which a change is taken over while the stack runs. */
const CHANGEABLE: ReadonlySet<string> = new Set([
  'AWS::CloudWatch::Alarm',
  'AWS::IAM::Role',
  'AWS::Lambda::Function',
]);

/** What of a function is fixed when it is made. */
const FIXED = 'LoggingConfig';

/** Types that are compared as a part of others: a policy is its role's, and every version of a function is a new one. */
const PARTS: ReadonlySet<string> = new Set(['AWS::IAM::Policy', 'AWS::Lambda::Version']);

/** A resource that is another one in the new template, or stays out of it. */
export interface Difference {
  readonly kind: 'new' | 'changed' | 'removed';
  readonly logicalId: string;
  /** Of the template, such as `AWS::SQS::Queue`. */
  readonly type: string;
  /** Top-level properties that differ, of what has changed. */
  readonly properties: readonly string[];
  /** Whether it can be taken over while the stack runs. */
  readonly canBeTakenOver: boolean;
}

/** The resources that run, as far as the local stack uses them. What a new template has of them is compared with it. */
export class RunningResources {
  readonly #running = new Map<string, Compared>();

  constructor(resources: Resources) {
    for (const resource of comparedOf(resources)) this.#running.set(resource.logicalId, resource);
  }

  get logicalIds(): ReadonlySet<string> {
    return new Set(this.#running.keys());
  }

  /** What would have to change for this template to run. @throws Error where it has what cannot be run here */
  differencesFrom(resources: Resources): Difference[] {
    const wanted = new Map(comparedOf(resources).map((resource) => [resource.logicalId, resource]));
    const newOrChanged = [...wanted.values()].flatMap((resource): Difference[] => {
      const running = this.#running.get(resource.logicalId);
      const { logicalId, type } = resource;
      if (running === undefined) {
        return [{ kind: 'new', logicalId, type, properties: [], canBeTakenOver: CREATABLE.has(type) }];
      }
      const properties = differing(running, resource);
      if (properties.length === 0) return [];
      const canBeTakenOver = CHANGEABLE.has(type) && !properties.includes(FIXED);
      return [{ kind: 'changed', logicalId, type, properties, canBeTakenOver }];
    });
    const removed = [...this.#running.values()]
      .filter(({ logicalId }) => !wanted.has(logicalId))
      .map(({ logicalId, type }): Difference => {
        return { kind: 'removed', logicalId, type, properties: [], canBeTakenOver: false };
      });
    return [...newOrChanged, ...removed];
  }

  /** To be called for what has been taken over. */
  tookOver(resources: Resources, differences: readonly Difference[]): void {
    const logicalIds = new Set(differences.map(({ logicalId }) => logicalId));
    for (const resource of comparedOf(resources)) {
      if (logicalIds.has(resource.logicalId)) this.#running.set(resource.logicalId, resource);
    }
  }
}

const ROLE = 'AWS::IAM::Role';

interface Compared {
  readonly logicalId: string;
  readonly type: string;
  /** JSON text by the name of a property. */
  readonly properties: ReadonlyMap<string, string>;
}

function comparedOf(resources: Resources): Compared[] {
  const statements = new Map(rolePolicies(resources).map((role) => [role.logicalId, role.statements]));
  return resources
    .all()
    .filter(({ type }) => !PARTS.has(type))
    .map(({ type, logicalId, properties }) => {
      const compared =
        type === ROLE ? { Policies: statements.get(logicalId) } : withoutCode(type, properties);
      return { type, logicalId, properties: texts(compared) };
    });
}

/** A function's code is compared by its files: those of a bundle that was rebuilt are in no template. */
function withoutCode(type: string, properties: AnyResource['properties']): object {
  if (type !== 'AWS::Lambda::Function') return properties;
  return Object.fromEntries(Object.entries(properties).filter(([name]) => name !== 'Code'));
}

const texts = (properties: object) =>
  new Map(
    Object.entries(properties)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, JSON.stringify(value)]),
  );

function differing(one: Compared, other: Compared): string[] {
  if (one.type !== other.type) return ['Type'];
  const names = new Set([...one.properties.keys(), ...other.properties.keys()]);
  return [...names].filter((name) => one.properties.get(name) !== other.properties.get(name));
}
