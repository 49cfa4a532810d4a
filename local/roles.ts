import { createHash } from 'node:crypto';
import type { AwsEndpoint } from './aws/endpoint.ts';
import { type Resources, rolePolicies } from './template/resources.ts';

/** The access key by which the AWS endpoint knows a role. */
export function accessKeyOf(roleArn: string): string {
  return `LOCAL${createHash('sha256').update(roleArn).digest('hex').slice(0, 15).toUpperCase()}`;
}

/** Makes the template's roles known, with what their policies allow. */
export function admitRoles(resources: Resources, aws: Pick<AwsEndpoint, 'addPrincipals'>): void {
  aws.addPrincipals(
    rolePolicies(resources).map(({ arn, logicalId, statements }) => ({
      name: logicalId,
      arn,
      accessKeyId: accessKeyOf(arn),
      statements,
    })),
  );
}
