import { createHash } from 'node:crypto';

export const REGION = 'us-east-1';

export interface ClientSettings {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export function clientSettings(endpoint: string, accessKeyId: string): ClientSettings {
  return { endpoint, region: REGION, credentials: { accessKeyId, secretAccessKey: 'local' } };
}

/** The access key of a role, by which the AWS endpoint recognises the role's calls. */
export function accessKeyOf(roleArn: string): string {
  return `LOCAL${createHash('sha256').update(roleArn).digest('hex').slice(0, 15).toUpperCase()}`;
}
