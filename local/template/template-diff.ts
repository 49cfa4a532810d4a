import { type Resources, rolePolicies } from './resources.ts';

export interface Difference {
  readonly kind: 'new' | 'changed' | 'removed';
  readonly logicalId: string;
  /** Of the template, such as `AWS::SQS::Queue`. */
  readonly type: string;
}

/** Types that are compared as a part of others: a policy is its role's, and every version of a function is a new one. */
const PARTS: ReadonlySet<string> = new Set(['AWS::IAM::Policy', 'AWS::Lambda::Version']);

/**
 * What a template has new, changed or removed, as far as the local stack runs it. A function's code is not compared.
 * @throws Error if a template has what cannot be run here
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

/** By logical id. The content is JSON. */
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
