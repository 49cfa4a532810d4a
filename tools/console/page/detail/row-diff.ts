import type { Item } from '../../../stage/history/facts.ts';

/** One attribute of a row, before and after. Values are JSON text. */
export interface AttributeChange {
  readonly name: string;
  readonly kind: 'added' | 'removed' | 'changed' | 'same';
  readonly before?: string;
  readonly after?: string;
}

/** What a write made of a row: the key and what stayed included, in the order in which the newer one has them. */
export function diffRows(before: Item | null, after: Item | null): AttributeChange[] {
  const old = new Map(Object.entries(before ?? {}));
  const changes: AttributeChange[] = [];
  for (const [name, value] of Object.entries(after ?? {})) {
    const newer = orderedText(value);
    if (!old.has(name)) {
      changes.push({ name, kind: 'added', after: newer });
      continue;
    }
    const older = orderedText(old.get(name));
    old.delete(name);
    changes.push({ name, kind: older === newer ? 'same' : 'changed', before: older, after: newer });
  }
  for (const [name, value] of old) changes.push({ name, kind: 'removed', before: orderedText(value) });
  return changes;
}

/** JSON with keys in order, so that two of the same content have the same text. */
export function orderedText(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? 'undefined'
  );
}
