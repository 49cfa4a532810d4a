import type { Construct } from 'constructs';
import { ProtectedTable, type StoredProps } from '../pipeline/protected-storage.ts';

/** Members of the cast, also by shop. Only tombstones expire. */
export function cast(scope: Construct, stored: StoredProps) {
  const table = new ProtectedTable(scope, 'Cast', {
    ...stored,
    key: 'girl_id',
    index: 'shop_id',
    expiry: 'expires_at',
  });
  return {
    output: { CastTable: table.tableName },
    environment: { CAST_TABLE: table.tableName },
    permissions: [table.permission('dynamodb:PutItem')],
  };
}
