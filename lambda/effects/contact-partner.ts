import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import type { EffectOutcome } from './outcome.ts';
import { tableKey } from './table-key.ts';
import { NEWER_THAN_STORED, versionedWrite } from './versioned-write.ts';

/** Fields of a contact that an event may carry; each has an attribute, and one more for its version. */
export interface ContactFields {
  readonly shop_id?: string | undefined;
  readonly display_name?: string | undefined;
  readonly profile_image_url?: string | undefined;
}

export interface ContactUpdate {
  readonly userId: string;
  readonly fields: ContactFields;
  /** ISO 8601. */
  readonly at: string;
  readonly version: string;
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
    const fields = Object.entries(update.fields).filter(([, value]) => value !== undefined) as [
      string,
      string,
    ][];
    // Newer than the record as a whole means newer than each of its fields: nearly always one write.
    if ((await this.#write(update, fields, NEWER_THAN_STORED, true)) === 'Processed') return 'Processed';
    const outcomes = await Promise.all(
      fields.map(([name, value]) =>
        this.#write(
          update,
          [[name, value]],
          `attribute_not_exists(${name}_version) OR ${name}_version < :version`,
          false,
        ),
      ),
    );
    return outcomes.includes('Processed') ? 'Processed' : 'Stale';
  }

  async #write(
    { userId, at, version }: ContactUpdate,
    fields: readonly [name: string, value: string][],
    condition: string,
    newest: boolean,
  ): Promise<EffectOutcome> {
    const assignments = [
      ...(newest ? ['version = :version', 'updated_at = :at'] : []),
      ...fields.flatMap(([name]) => [`${name} = :${name}`, `${name}_version = :version`]),
    ];
    return await versionedWrite(() =>
      this.#client.send(
        new UpdateItemCommand({
          TableName: this.#table,
          Key: { user_id: { S: tableKey(userId) } },
          UpdateExpression: `SET ${assignments.join(', ')}`,
          ConditionExpression: condition,
          ExpressionAttributeValues: {
            ':version': { S: version },
            ...(newest && { ':at': { S: at } }),
            ...Object.fromEntries(fields.map(([name, value]) => [`:${name}`, { S: value }])),
          },
        }),
      ),
    );
  }
}
