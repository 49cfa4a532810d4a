import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { isRepair } from '../queue/replay.ts';
import { type EffectOutcome, mayWrite, type VersionedChange, versionedWrite } from './event-order.ts';
import { tableKey } from './table-key.ts';

/** Fields of a contact. Each has an attribute for its value and one for its version. */
const FIELDS = ['shop_id', 'display_name', 'profile_image_url'] as const;

export type ContactFields = { readonly [Name in (typeof FIELDS)[number]]?: string | undefined };

export interface ContactUpdate extends VersionedChange {
  readonly userId: string;
  readonly fields: ContactFields;
}

type Field = readonly [name: string, value: string];

/**
 * The contact_partner records, one item per user. A field that an event does not contain keeps its value. Therefore
 * each field has its own version: otherwise a late event would be skipped even for fields that no newer event has
 * changed.
 */
export class ContactPartner {
  readonly #client: DynamoDBClient;
  readonly #table: string;

  constructor(
    client = new DynamoDBClient(clientSettings),
    table = requireEnvironment(['CONTACT_PARTNER_TABLE']).CONTACT_PARTNER_TABLE,
  ) {
    this.#client = client;
    this.#table = table;
  }

  /** Writes the fields of the event that no newer event has written. */
  async update(update: ContactUpdate): Promise<EffectOutcome> {
    const fields = fieldsOf(update);
    if (isRepair(update.replay)) return await this.#repair(update, fields);
    // An event newer than the record is newer than each field: usually one write is enough.
    const record = await this.#writeRecord(update, fields, mayWrite(update));
    if (record === 'Processed') return 'Processed';
    const single = await Promise.all(fields.map((field) => this.#writeField(update, field)));
    return combined([record, ...single]);
  }

  /**
   * Compares each field with its own version, regardless of the record's version. If a field has this event's version
   * but the event does not contain the field, its version is removed, so that the right event can write it.
   */
  async #repair(update: ContactUpdate, fields: readonly Field[]): Promise<EffectOutcome> {
    const absent = FIELDS.filter((name) => update.fields[name] === undefined);
    const nothingNewer = ['version', ...fields.map(versionName)].map((version) => mayWrite(update, version));
    const nothingMislabelled = absent.map((name) => `NOT ${name}_version = :version`);
    const condition = [...nothingNewer, ...nothingMislabelled].join(' AND ');
    if ((await this.#writeRecord(update, fields, condition)) === 'Processed') return 'Processed';
    // The record comes first: if a live delivery finds a newer record, it checks each field.
    const record = await this.#writeRecord(update, [], mayWrite(update));
    const others = await Promise.all([
      ...fields.map((field) => this.#writeField(update, field)),
      ...absent.map((name) => this.#removeVersion(update, name)),
    ]);
    return combined([record, ...others]);
  }

  async #writeRecord(
    update: ContactUpdate,
    fields: readonly Field[],
    condition: string,
  ): Promise<EffectOutcome> {
    const sets = ['version = :version', 'updated_at = :at', ...fields.flatMap(assignments)];
    const values = { ':at': update.receivedAt, ...valuesOf(fields) };
    return await this.#write(update, `SET ${sets.join(', ')}`, condition, values);
  }

  async #writeField(update: ContactUpdate, field: Field): Promise<EffectOutcome> {
    const condition = mayWrite(update, versionName(field));
    return await this.#write(update, `SET ${assignments(field).join(', ')}`, condition, valuesOf([field]));
  }

  async #removeVersion(update: ContactUpdate, name: string): Promise<EffectOutcome> {
    return await this.#write(update, `REMOVE ${name}_version`, `${name}_version = :version`);
  }

  async #write(
    update: ContactUpdate,
    expression: string,
    condition: string,
    values: Record<string, string> = {},
  ): Promise<EffectOutcome> {
    const { userId, version } = update;
    const texts = Object.entries({ ':version': version, ...values });
    return await versionedWrite(
      version,
      () =>
        this.#client.send(
          new UpdateItemCommand({
            TableName: this.#table,
            Key: { user_id: { S: tableKey(userId) } },
            UpdateExpression: expression,
            ConditionExpression: condition,
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            ExpressionAttributeValues: Object.fromEntries(texts.map(([name, text]) => [name, { S: text }])),
          }),
        ),
      ['version', ...fieldsOf(update).map(versionName)],
    );
  }
}

function fieldsOf({ fields }: ContactUpdate): Field[] {
  return FIELDS.flatMap((name) => {
    const value = fields[name];
    return value === undefined ? [] : [[name, value] as const];
  });
}

const versionName = ([name]: Field) => `${name}_version`;

const assignments = (field: Field) => [`${field[0]} = :${field[0]}`, `${versionName(field)} = :version`];

const valuesOf = (fields: readonly Field[]) =>
  Object.fromEntries(fields.map(([name, value]) => [`:${name}`, value]));

/** The combined outcome: `Processed` if any write was made, else `Duplicate` if any was a duplicate, else `Stale`. */
const combined = (outcomes: readonly EffectOutcome[]): EffectOutcome =>
  (['Processed', 'Duplicate'] as const).find((outcome) => outcomes.includes(outcome)) ?? 'Stale';
