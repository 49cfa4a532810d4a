import type { Construct } from 'constructs';
import { ProtectedTable } from '../pipeline/protected-storage.ts';
import type { EffectProps, EffectTarget } from './effect-target.ts';

/** The partner's users. */
export function contactPartner(scope: Construct, props: EffectProps): EffectTarget {
  const table = new ProtectedTable(scope, 'ContactPartner', { ...props, key: 'user_id' });
  return {
    table,
    output: { ContactPartnerTable: table.tableName },
    environment: { CONTACT_PARTNER_TABLE: table.tableName },
    permissions: [table.permission('dynamodb:UpdateItem')],
  };
}
