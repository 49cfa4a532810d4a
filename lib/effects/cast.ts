import type { Construct } from 'constructs';
import { ProtectedTable } from '../pipeline/protected-storage.ts';
import type { EffectProps, EffectTarget } from './effect-target.ts';

/** Members of the cast, also by shop. Only tombstones expire. */
export function cast(scope: Construct, props: EffectProps): EffectTarget {
  const table = new ProtectedTable(scope, 'Cast', {
    ...props,
    key: 'girl_id',
    index: 'shop_id',
    expiry: 'expires_at',
  });
  return {
    table,
    output: { CastTable: table.tableName },
    environment: { CAST_TABLE: table.tableName },
    permissions: [table.permission('dynamodb:PutItem')],
  };
}
