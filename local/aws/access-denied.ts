import type { Decision } from './authorization.ts';
import { AwsError } from './aws-error.ts';
import type { Permission } from './permissions.ts';
import type { Service } from './request.ts';

/** What each service calls a refusal, where it is not `AccessDeniedException` with status 400. */
const REFUSALS: Partial<Record<Service, { code: string; status: number }>> = {
  sqs: { code: 'AccessDeniedException', status: 403 },
  sns: { code: 'AuthorizationError', status: 403 },
  s3: { code: 'AccessDenied', status: 403 },
  monitoring: { code: 'AccessDenied', status: 403 },
  lambda: { code: 'AccessDeniedException', status: 403 },
};

/** The service's own error for a caller whose policies do not allow what it asks. */
export function accessDenied(
  service: Service,
  caller: string,
  { action, resource }: Permission,
  decision: Exclude<Decision, 'allowed'>,
): AwsError {
  const { code, ...options } = REFUSALS[service] ?? { code: 'AccessDeniedException', status: 400 };
  const reason =
    decision === 'explicitly denied'
      ? 'with an explicit deny in an identity-based policy'
      : `because no identity-based policy allows the ${action} action`;
  return new AwsError(
    code,
    `User: ${caller} is not authorized to perform: ${action} on resource: ${resource} ${reason}`,
    options,
  );
}
