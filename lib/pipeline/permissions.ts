import { createHash } from 'node:crypto';
import { Stack } from 'aws-cdk-lib';
import { Policy, type PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';

/**
 * A policy that no deployment changes: other statements make another policy. CloudFormation creates that one first, and
 * deletes this one at the end, when no traffic goes to the version that needs it. If a deployment fails, this one stays.
 * Source: CloudFormation user guide, "Understand stack update status codes", `UPDATE_COMPLETE_CLEANUP_IN_PROGRESS`.
 *
 * All policies of a role may have 10,240 characters, and a deployment needs both. Source: IAM quotas.
 */
export class UnchangingPolicy extends Policy {
  constructor(role: Role, name: string, statements: readonly PolicyStatement[]) {
    super(role, `${name}-${permissionsDigest(role, statements)}`, {
      statements: [...statements],
      roles: [role],
    });
  }
}

/** 16 hex digits that other permissions change. */
export function permissionsDigest(scope: IConstruct, statements: readonly PolicyStatement[]): string {
  const permissions = Stack.of(scope).resolve(statements.map((statement) => statement.toStatementJson()));
  return createHash('sha256').update(JSON.stringify(permissions)).digest('hex').slice(0, 16);
}
