import { type AttributeValue, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import type { EffectOutcome } from './outcome.ts';
import { tableKey } from './table-key.ts';
import { mayWrite, type VersionedChange, versionedWrite } from './versioned-write.ts';

/** Fields of a contact that an event may carry; each has an attribute, and one more for its version. */
export interface ContactFields {
  readonly shop_id?: string | undefined;
  readonly display_name?: string | undefined;
  readonly profile_image_url?: string | undefined;
}

export interface ContactUpdate extends VersionedChange {
  readonly userId: string;
  readonly fields: ContactFields;
}

type Field = readonly [name: string, value: string];

/** One write: what it sets besides fields and their versions, and under which condition. */
interface ContactWrite {
  readonly sets: readonly string[];
  readonly values: Record<string, AttributeValue>;
  readonly fields: readonly Field[];
  readonly condition: string;
}

/**
 * The contact_partner records, one item a user. A field that is absent from an event keeps its value,
 * so each field has a version of its own: otherwise an older event that comes late would be dropped
 * together with fields that no newer event has touched.
 */
export class ContactPartner {
  readonly #client: DynamoDBClient;
  readonly #table: string;

  constructor(client: DynamoDBClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  static fromEnvironment(): ContactPartner {
    return new ContactPartner(
      new DynamoDBClient(clientSettings),
      requireEnvironment(['CONTACT_PARTNER_TABLE']).CONTACT_PARTNER_TABLE,
    );
  }

  /** Writes the fields of the event that no newer event has written. */
  async update(update: ContactUpdate): Promise<EffectOutcome> {
    const fields = Object.entries(update.fields).filter(([, value]) => value !== undefined) as Field[];
    // Nearly always one write.
    if ((await this.#writeRecord(update, fields)) === 'Processed') return 'Processed';
    // A damaged record may be older than one of its fields: the event is the newest of the record nevertheless.
    const ofRecord = update.repairs ? await this.#writeRecord(update, []) : 'Stale';
    const ofFields = await Promise.all(fields.map((field) => this.#writeField(update, field)));
    return [ofRecord, ...ofFields].includes('Processed') ? 'Processed' : 'Stale';
  }

  /** Writes an event that is newer than the record as a whole, which means newer than each of its fields. */
  async #writeRecord(update: ContactUpdate, fields: readonly Field[]): Promise<EffectOutcome> {
    // But in a repair nothing is taken for granted: what is wrong or missing may be a version.
    const versions = ['version', ...(update.repairs ? fields.map(([name]) => `${name}_version`) : [])];
    return await this.#write(update, {
      sets: ['version = :version', 'updated_at = :at'],
      values: { ':at': { S: update.at } },
      fields,
      condition: versions.map((version) => `(${mayWrite(update, version)})`).join(' AND '),
    });
  }

  async #writeField(update: ContactUpdate, field: Field): Promise<EffectOutcome> {
    const [name] = field;
    const condition = mayWrite(update, `${name}_version`);
    return await this.#write(update, { sets: [], values: {}, fields: [field], condition });
  }

  async #write({ userId, version }: ContactUpdate, write: ContactWrite): Promise<EffectOutcome> {
    const { sets, values, fields, condition } = write;
    const assignments = fields.flatMap(([name]) => [`${name} = :${name}`, `${name}_version = :version`]);
    return await versionedWrite(() =>
      this.#client.send(
        new UpdateItemCommand({
          TableName: this.#table,
          Key: { user_id: { S: tableKey(userId) } },
          UpdateExpression: `SET ${[...sets, ...assignments].join(', ')}`,
          ConditionExpression: condition,
          ExpressionAttributeValues: {
            ':version': { S: version },
            ...values,
            ...Object.fromEntries(fields.map(([name, value]) => [`:${name}`, { S: value }])),
          },
        }),
      ),
    );
  }
}
