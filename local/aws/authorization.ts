/** One statement of an IAM policy, with its intrinsic functions resolved. */
export interface PolicyStatement {
  Effect: 'Allow' | 'Deny';
  Action?: string | string[];
  NotAction?: string | string[];
  Resource?: string | string[];
  NotResource?: string | string[];
  Condition?: Record<string, Record<string, string | string[]>>;
}

/** What IAM decides, and why where it refuses. */
export type Decision = 'allowed' | 'explicitly denied' | 'not allowed';

/** Decides on one action and one resource, which is `*` where the action has none. */
export type Policy = (action: string, resource: string) => Decision;

type Matcher = (value: string) => boolean;

/** What is true of every request here. Keys that IAM knows and this does not are absent from it. */
const CONTEXT: Record<string, string> = {
  'aws:securetransport': 'true',
  // That of every caller (local/place.ts).
  'kms:calleraccount': '000000000000',
};

/** IAM's matching of one value of a policy with one of the request. */
const CONDITION_OPERATORS: Record<string, (pattern: string) => Matcher> = {
  Bool: (pattern) => (value) => value === pattern.toLowerCase(),
  StringEquals: (pattern) => (value) => value === pattern,
  StringLike: (pattern) => wildcard(pattern),
  // IAM gives both the same meaning.
  ArnEquals: (pattern) => wildcard(pattern),
  ArnLike: (pattern) => wildcard(pattern),
};

/**
 * Prepares the identity-based policies of one role: an explicit deny wins, and what nothing allows is
 * refused.
 * @throws Error naming a condition operator that is not supported
 */
export function compilePolicy(statements: PolicyStatement[]): Policy {
  const compiled = statements.map(compileStatement);
  return (action, resource) => {
    let decision: Decision = 'not allowed';
    for (const { effect, applies } of compiled) {
      if (!applies(action, resource)) continue;
      if (effect === 'Deny') return 'explicitly denied';
      decision = 'allowed';
    }
    return decision;
  };
}

function compileStatement(statement: PolicyStatement) {
  const action = matchOf(statement.Action, statement.NotAction, (pattern) => wildcard(pattern, 'i'));
  const resource = matchOf(statement.Resource, statement.NotResource, (pattern) => wildcard(pattern));
  const condition = conditionHolds(statement.Condition ?? {});
  return {
    effect: statement.Effect,
    applies: (name: string, arn: string) => condition && action(name) && resource(arn),
  };
}

function matchOf(
  patterns: string | string[] | undefined,
  exceptions: string | string[] | undefined,
  compile: (pattern: string) => Matcher,
): Matcher {
  const matchers = listOf(patterns ?? exceptions ?? []).map(compile);
  const inverted = patterns === undefined && exceptions !== undefined;
  return (value) => matchers.some((matches) => matches(value)) !== inverted;
}

/** The context is the same for every request, so a condition is settled when the policy is read. */
function conditionHolds(condition: NonNullable<PolicyStatement['Condition']>): boolean {
  return Object.entries(condition).every(([operator, keys]) => {
    const compile = CONDITION_OPERATORS[operator];
    if (compile === undefined) {
      throw new Error(
        `The condition operator ${operator} is not supported here. Supported: ${Object.keys(CONDITION_OPERATORS).join(', ')}.`,
      );
    }
    return Object.entries(keys).every(([key, values]) => {
      const actual = CONTEXT[key.toLowerCase()];
      return actual !== undefined && listOf(values).some((value) => compile(value)(actual));
    });
  });
}

function listOf(value: string | string[]): string[] {
  return typeof value === 'string' ? [value] : value;
}

/** `*` stands for any text and `?` for any one character; the rest is literal. */
function wildcard(pattern: string, flags = ''): Matcher {
  if (pattern === '*') return () => true;
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const expression = new RegExp(`^${source}$`, `s${flags}`);
  return (value) => expression.test(value);
}
