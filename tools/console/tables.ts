import type { TableInfo } from './api.ts';

/** Tables that the console shows, by their outputs; `lib/effects.ts` says how their rows are found. */
const TABLES: readonly TableInfo[] = [
  { name: 'ShopCacheTable', key: 'shop_id' },
  { name: 'CastTable', key: 'girl_id' },
  { name: 'ContactPartnerTable', key: 'user_id' },
];

/** Those that a stack has. */
export const tablesOf = (outputs: Readonly<Record<string, string>>): TableInfo[] =>
  TABLES.filter(({ name }) => outputs[name] !== undefined);
