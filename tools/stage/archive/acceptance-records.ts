import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { isObject, jsonOf } from '../history/json.ts';

/** The name of each run of `npx hookctl acceptance` begins like this, and so does each id that the run sends. */
export const ACCEPTANCE_PREFIX = 'acceptance-';

/** Whether a record is of an acceptance run: its shop or another id of its data begins with the run's name. */
export function isOfAcceptance({ shopId, body }: Pick<ArchiveRecord, 'shopId' | 'body'>): boolean {
  if (shopId?.startsWith(ACCEPTANCE_PREFIX)) return true;
  // A fast check: most bodies do not contain the prefix.
  if (!body?.includes(ACCEPTANCE_PREFIX)) return false;
  const payload = jsonOf(body);
  const data = isObject(payload) && isObject(payload.data) ? payload.data : {};
  return Object.entries(data).some(
    ([name, value]) =>
      name.endsWith('_id') && typeof value === 'string' && value.startsWith(ACCEPTANCE_PREFIX),
  );
}
