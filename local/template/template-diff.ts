import { type Resources, rolePolicies } from './resources.ts';

export interface Difference {
  readonly kind: 'new' | 'changed' | 'removed';
  readonly logicalId: string;
  /** Type in the template, such as `AWS::SQS::Queue`. */
  readonly type: string;
}

/**
 * Types that count as parts of others: a policy belongs to its role, and each version of a function is a new resource.
 */
const PARTS: ReadonlySet<string> = new Set(['AWS::IAM::Policy', 'AWS::Lambda::Version']);

/**
 * The resources that a template adds, changes or removes, if the local stack runs them. A function's code is not
 * compared.
 * @throws Error if a template has something that cannot be run here
 */
export function templateDiff(before: Resources, after: Resources): Difference[] {
  const [old, wanted] = [contentsOf(before), contentsOf(after)];
  const differences: Difference[] = [];
  for (const [logicalId, { type, content }] of wanted) {
    const running = old.get(logicalId);
    if (running === undefined) differences.push({ kind: 'new', logicalId, type });
    else if (running.content !== content) differences.push({ kind: 'changed', logicalId, type });
  }
  for (const [logicalId, { type }] of old) {
    if (!wanted.has(logicalId)) differences.push({ kind: 'removed', logicalId, type });
  }
  return differences;
}

/** By logical id. The content is JSON text. */
function contentsOf(resources: Resources): Map<string, { readonly type: string; readonly content: string }> {
  const statements = new Map(rolePolicies(resources).map((role) => [role.logicalId, role.statements]));
  return new Map(
    resources
      .all()
      .filter(({ type }) => !PARTS.has(type))
      .map(({ type, logicalId, properties }) => {
        const compared =
          type === 'AWS::IAM::Role' ? statements.get(logicalId) : { ...properties, Code: undefined };
        return [logicalId, { type, content: JSON.stringify([type, compared]) }];
      }),
  );
}
