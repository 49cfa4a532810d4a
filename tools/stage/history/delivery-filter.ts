import type { SQLInputValue } from 'node:sqlite';
import type { DeliveryState } from './history.ts';

/** Shortest search that can use the index, in characters. A shorter one scans all texts. */
const SHORTEST_INDEXED = 3;

/** Selects deliveries. An absent property matches all. */
export interface DeliveryFilter {
  /** Part of the payload, of an id, of the shop or of an error. Ignores case. */
  readonly search?: string | undefined;
  readonly event?: string | undefined;
  readonly states?: ReadonlySet<DeliveryState> | undefined;
  /** Part of the shop's id. Ignores the case of ASCII letters. */
  readonly shop?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Request ids. Only these deliveries match. */
  readonly ids?: readonly string[] | undefined;
}

/** The filter as a condition in SQL, with its parameters. */
export function condition(filter: DeliveryFilter): { where: string; values: SQLInputValue[] } {
  const { event, states, shop, since, until, ids } = filter;
  // SQLite ends a text at a NUL character.
  const search = filter.search?.replaceAll('\0', ' ');
  const parts: [sql: string, value: SQLInputValue | undefined][] = [
    ['event = ?', event],
    ['state IN (SELECT value FROM json_each(?))', states && JSON.stringify([...states])],
    ["shop LIKE ? ESCAPE '\\'", shop && likePart(shop)],
    ['received_at >= ?', since?.toISOString()],
    ['received_at < ?', until?.toISOString()],
    ['id IN (SELECT value FROM json_each(?))', ids && JSON.stringify(ids)],
    // The plus sign makes SQLite search the index once. Without it, SQLite searches once for each id, at 2 ms each.
    search !== undefined && [...search].length >= SHORTEST_INDEXED
      ? ['+n IN (SELECT rowid >> 1 FROM texts WHERE texts MATCH ?)', `"${search.replaceAll('"', '""')}"`]
      : ["+n IN (SELECT rowid >> 1 FROM texts WHERE text LIKE ? ESCAPE '\\')", search && likePart(search)],
  ];
  const given = parts.filter(([, value]) => value !== undefined);
  return {
    where: ['row IS NOT NULL', ...given.map(([sql]) => sql)].join(' AND '),
    values: given.map(([, value]) => value ?? null),
  };
}

/** Pattern for a part of a text, for SQL's `LIKE … ESCAPE '\\'`. */
const likePart = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
