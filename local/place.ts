import type { ClientSettings } from './deploy.ts';

/** The account of fauxqs, and so of everything here. */
export const ACCOUNT_ID = '000000000000';
export const REGION = 'us-east-1';

/** @param endpoint address of the local AWS endpoint */
export function clientSettings(endpoint: string, accessKeyId: string): ClientSettings {
  return { endpoint, region: REGION, credentials: { accessKeyId, secretAccessKey: 'local' } };
}
