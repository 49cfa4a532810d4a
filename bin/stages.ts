import { readFileSync } from 'node:fs';
import { readContext } from './synthesise.ts';

/**
 * Stages with their fields: those of `cdk.json`, one with every setting, and one whose data is encrypted with
 * a customer-managed key. For tests and generated files.
 */
export const stages: Readonly<Record<string, object>> = {
  ...readContext().stages,
  'every-setting': JSON.parse(readFileSync('bin/every-setting.json', 'utf8')),
  encrypted: { account: '111122223333', region: 'eu-central-1', encryption: {} },
};
