import { AwsError } from './errors.ts';
import { type FindSecretArn, permissionsOf } from './permissions.ts';
import {
  ACCOUNT_ID,
  type AwsRequest,
  type NeededPermission,
  SERVICES,
  type Service,
} from './service-forms.ts';

type Condition = Readonly<Record<string, Readonly<Record<string, string | boolean | string[]>>>>;

/** One statement of an IAM policy, with its intrinsic functions resolved. */
export interface PolicyStatement {
  Effect: 'Allow' | 'Deny';
  Action: string | string[];
  Resource: string | string[];
  Condition?: Condition;
}

/** An IAM role with an access key of its own, by which the endpoint recognises the role's calls. */
export interface Principal {
  /** The role's logical id. */
  name: string;
  accessKeyId: string;
  /** The role's ARN, which services use to act for the role. @default none: no service can act for the role */
  arn?: string;
  statements: PolicyStatement[];
}

/**
 * Decides which calls are allowed. A caller whose access key belongs to no role is an operator, who may do everything.
 */
export function createAuthorization(secretArn: FindSecretArn) {
  /** Roles by access key. */
  const roles = new Map<string, Pick<Principal, 'name' | 'arn'> & { policy: Policy }>();

  function callerArn(accessKeyId: string): string {
    const role = roles.get(accessKeyId);
    if (role === undefined) return `arn:aws:iam::${ACCOUNT_ID}:user/operator`;
    return `arn:aws:sts::${ACCOUNT_ID}:assumed-role/${role.name}/local`;
  }

  function decide(accessKeyId: string, { action, resource }: NeededPermission): Decision {
    return roles.get(accessKeyId)?.policy(action, resource) ?? 'allowed';
  }

  function assertAllowed(accessKeyId: string, service: Service, permission: NeededPermission): void {
    const decision = decide(accessKeyId, permission);
    if (decision === 'allowed') return;
    const { action, resource } = permission;
    const reason =
      decision === 'explicitly denied'
        ? 'with an explicit deny in an identity-based policy'
        : `because no identity-based policy allows the ${action} action`;
    const { code, status } = SERVICES[service].accessDenied;
    throw new AwsError(
      code,
      `User: ${callerArn(accessKeyId)} is not authorized to perform: ${action} on resource: ${resource} ${reason}`,
      { status },
    );
  }

  return {
    /** @throws Error for an unknown operator of a condition */
    addPrincipals(principals: Principal[]): void {
      for (const { accessKeyId, statements, ...role } of principals) {
        roles.set(accessKeyId, { ...role, policy: compilePolicy(statements) });
      }
    },
    isRole: (accessKeyId: string) => roles.has(accessKeyId),
    isAllowed: (accessKeyId: string, permission: NeededPermission) =>
      decide(accessKeyId, permission) === 'allowed',
    callerArn,
    /** @throws AwsError of the service, if the caller's policies do not allow the request */
    authorize(request: AwsRequest): void {
      const { accessKeyId, service } = request;
      if (!roles.has(accessKeyId)) return;
      for (const permission of permissionsOf(request, secretArn))
        assertAllowed(accessKeyId, service, permission);
    },
    /**
     * Checks a permission of a role for a service that acts for the role.
     * @throws Error if the role is unknown or lacks the permission
     */
    authorizeRole(roleArn: string, service: Service, permission: NeededPermission): void {
      const [accessKeyId] = [...roles].find(([, { arn }]) => arn === roleArn) ?? [];
      if (accessKeyId === undefined) throw new Error(`Firehose is unable to assume role ${roleArn}`);
      assertAllowed(accessKeyId, service, permission);
    },
  };
}

type Decision = 'allowed' | 'explicitly denied' | 'not allowed';

/** Decides about one action on one resource. The resource is `*` if the action has none. */
type Policy = (action: string, resource: string) => Decision;

/**
 * Prepares the identity-based policies of one role. An explicit deny wins, and anything that no statement allows is
 * denied.
 * @throws Error for an unknown operator of a condition
 */
export function compilePolicy(statements: readonly PolicyStatement[]): Policy {
  const compiled = statements.map(compileStatement);
  return (action, resource) => {
    const effects = compiled.filter(({ applies }) => applies(action, resource)).map(({ effect }) => effect);
    if (effects.includes('Deny')) return 'explicitly denied';
    return effects.length > 0 ? 'allowed' : 'not allowed';
  };
}

function compileStatement({ Effect, Action, Resource, Condition = {} }: PolicyStatement) {
  const condition = holds(Condition);
  const actions = [Action].flat().map((pattern) => wildcard(pattern, 'i'));
  const resources = [Resource].flat().map((pattern) => wildcard(pattern));
  return {
    effect: Effect,
    applies: (action: string, resource: string) =>
      condition &&
      actions.some((matches) => matches(action)) &&
      resources.some((matches) => matches(resource)),
  };
}

/**
 * Condition keys, in lower case, with the same value in every request. A condition on another key does not hold.
 */
const CONTEXT: Readonly<Record<string, string>> = {
  'aws:securetransport': 'true',
  'kms:calleraccount': ACCOUNT_ID,
};

/** The operators that compare a text with one or several. */
const OPERATORS = ['StringEquals', 'Bool'];

function holds(condition: Condition): boolean {
  return Object.entries(condition).every(([operator, keys]) => {
    if (!OPERATORS.includes(operator)) {
      throw new Error(`The condition operator ${operator} is not supported here, only ${OPERATORS}`);
    }
    return Object.entries(keys).every(([key, values]) => {
      const actual = CONTEXT[key.toLowerCase()];
      return [values].flat().some((value) => String(value) === actual);
    });
  });
}

/** A matcher for a pattern of IAM: `*` stands for any text and `?` for any one character; the rest is literal. */
function wildcard(pattern: string, flags = ''): (value: string) => boolean {
  if (pattern === '*') return () => true;
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const expression = new RegExp(`^${source}$`, `s${flags}`);
  return (value) => expression.test(value);
}
