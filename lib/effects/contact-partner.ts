import type { Construct } from 'constructs';
import { ProtectedTable, type StoredProps } from '../pipeline/protected-storage.ts';

/** The partner's users. */
export function contactPartner(scope: Construct, stored: StoredProps) {
  const table = new ProtectedTable(scope, 'ContactPartner', { ...stored, key: 'user_id' });
  return {
    output: { ContactPartnerTable: table.tableName },
    environment: { CONTACT_PARTNER_TABLE: table.tableName },
    permissions: [table.permission('dynamodb:UpdateItem')],
  };
}
