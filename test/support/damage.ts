import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import type { StoredRow } from './state-consumers.ts';
import type { Row, Tables } from './tables.ts';

/** What a bug of ours does to an attribute of a row. */
export interface Damage {
  readonly attribute: string;
  readonly kind: 'removed' | 'changed' | 'shortened' | 'added' | 'mistyped';
}

/** Columns of all tables but for keys and `version`. `notes` is nobody's. */
const COLUMNS = [
  'shop_id',
  'name',
  'data',
  'status',
  'updated_at',
  'expires_at',
  'updated_fields',
  'invalidated_at',
  'shop',
  'display_name',
  'profile_image_url',
  'shop_id_version',
  'display_name_version',
  'profile_image_url_version',
  'notes',
];

/** Some damage to rows of any table; of what a row does not have, it takes no harm. */
export const damages: fc.Arbitrary<Damage[]> = fc.array(
  fc.record({
    attribute: fc.constantFrom(...COLUMNS),
    kind: fc.constantFrom<Damage['kind'][]>('removed', 'changed', 'shortened', 'added', 'mistyped'),
  }),
  { maxLength: 12 },
);

/** Leaves the versions of rows and of their fields right, and so gives an ordinary delivery no reason to write. */
export const underRightVersions = ({ attribute }: Damage): boolean => !attribute.endsWith('_version');

/**
 * Writes the rows as damage leaves them: their keys and `version` are right. Attributes are added to those that a
 * repair is to remove: of the cast any, of the shop cache its own.
 */
export async function damage(
  tables: Tables,
  rows: readonly StoredRow[],
  damages: readonly Damage[],
): Promise<void> {
  await Promise.all(
    rows.map(async ({ table, key, row }) => {
      const damaged: Row = { ...row };
      for (const each of damages) if (!(each.attribute in key)) harm(damaged, key, each);
      await tables.client.send(new PutItemCommand({ TableName: table, Item: marshall(damaged) }));
    }),
  );
}

function harm(row: Row, key: StoredRow['key'], { attribute, kind }: Damage): void {
  const isThere = attribute in row;
  if (kind === 'added') {
    const isRemovable = 'girl_id' in key || ('shop_id' in key && /^(shop|updated_fields)$/.test(attribute));
    if (!isThere && isRemovable) row[attribute] = 'wrong';
  } else if (isThere && kind === 'removed') {
    delete row[attribute];
  } else if (isThere && kind === 'mistyped') {
    // Of indexed columns DynamoDB takes text only.
    row[attribute] = attribute === 'shop_id' ? 'wrong' : null;
  } else if (isThere) {
    row[attribute] = attribute.endsWith('_version') ? lowered(row[attribute], kind) : 'wrong';
  }
}

/**
 * Writes contacts as a bug does that fills in what an event does not carry: all fields of a record are wrong, and claim
 * to be of its newest event.
 */
export async function fillIn(tables: Tables, rows: readonly StoredRow[]): Promise<void> {
  const contacts = rows.filter(({ key }) => 'user_id' in key);
  await Promise.all(
    contacts.map(async ({ table, row }) => {
      const claimed = Object.entries(row ?? {}).map(([name, value]) => {
        if (name.endsWith('_version')) return [name, row?.version];
        return [name, row !== undefined && `${name}_version` in row ? 'wrong' : value];
      });
      await tables.client.send(
        new PutItemCommand({ TableName: table, Item: marshall(Object.fromEntries(claimed)) }),
      );
    }),
  );
}

/** A version as a bug may have written it: below every other, or between its own and the one before. */
const lowered = (version: unknown, kind: Damage['kind']) =>
  kind === 'shortened' && typeof version === 'string' ? version.slice(0, -1) : '0';
