import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { isRepair } from '../queue/replay.ts';
import { type EffectOutcome, mayWrite, type VersionedChange, versionedWrite } from './event-order.ts';
import { storableText, tableKey } from './item-values.ts';

/** Fields of a contact. Each field has an attribute for the value and another for the version. */
export const CONTACT_FIELDS = ['shop_id', 'display_name', 'profile_image_url'] as const;

export type ContactFields = { readonly [Name in (typeof CONTACT_FIELDS)[number]]?: string | undefined };

export interface ContactUpdate extends VersionedChange {
  readonly userId: string;
  readonly fields: ContactFields;
}

/**
 * A field of an event. The value is undefined if no item can hold it: then it is removed under the event's version, so
 * that no older value comes back.
 */
type ContactField = readonly [name: string, value: string | undefined];

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
    const fields = storableFields(update);
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
  async #repair(update: ContactUpdate, fields: readonly ContactField[]): Promise<EffectOutcome> {
    const absent = CONTACT_FIELDS.filter((name) => update.fields[name] === undefined);
    const nothingNewer = versionNames(update).map((version) => mayWrite(update, version));
    const nothingMislabelled = absent.map((name) => `NOT ${name}_version = :version`);
    const condition = [...nothingNewer, ...nothingMislabelled].join(' AND ');
    if ((await this.#writeRecord(update, fields, condition)) === 'Processed') return 'Processed';
    // The record is written before its fields: a live delivery compares the versions of fields only if the record's
    // version is newer.
    const record = await this.#writeRecord(update, [], mayWrite(update));
    const others = await Promise.all([
      ...fields.map((field) => this.#writeField(update, field)),
      ...absent.map((name) => this.#removeVersion(update, name)),
    ]);
    return combined([record, ...others]);
  }

  async #writeRecord(
    update: ContactUpdate,
    fields: readonly ContactField[],
    condition: string,
  ): Promise<EffectOutcome> {
    const expression = writing(fields, ['version = :version', 'updated_at = :at']);
    return await this.#write(update, expression, condition, {
      ':at': update.receivedAt,
      ...valuesOf(fields),
    });
  }

  async #writeField(update: ContactUpdate, field: ContactField): Promise<EffectOutcome> {
    const condition = mayWrite(update, versionName(field[0]));
    return await this.#write(update, writing([field]), condition, valuesOf([field]));
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
      versionNames(update),
    );
  }
}

const sentFields = ({ fields }: ContactUpdate) => CONTACT_FIELDS.filter((name) => fields[name] !== undefined);

const storableFields = (update: ContactUpdate): ContactField[] =>
  sentFields(update).map((name) => [name, storableText(name, update.fields[name])]);

const versionName = (name: string) => `${name}_version`;

/** Names of the versions that an event writes: one for the record, and one for each field that was sent. */
const versionNames = (update: ContactUpdate) => ['version', ...sentFields(update).map(versionName)];

/** The update expression that writes fields under the event's version, after other assignments. */
function writing(fields: readonly ContactField[], others: readonly string[] = []): string {
  const versions = fields.map(([name]) => `${versionName(name)} = :version`);
  const values = fields.filter(isStorable).map(([name]) => `${name} = :${name}`);
  const removed = fields.filter((field) => !isStorable(field)).map(([name]) => name);
  const set = `SET ${[...others, ...values, ...versions].join(', ')}`;
  return removed.length > 0 ? `${set} REMOVE ${removed.join(', ')}` : set;
}

const isStorable = (field: ContactField): field is readonly [string, string] => field[1] !== undefined;

const valuesOf = (fields: readonly ContactField[]) =>
  Object.fromEntries(fields.filter(isStorable).map(([name, value]) => [`:${name}`, value]));

/** The combined outcome: `Processed` if any write was made, else `Duplicate` if any was a duplicate, else `Stale`. */
const combined = (outcomes: readonly EffectOutcome[]): EffectOutcome =>
  (['Processed', 'Duplicate'] as const).find((outcome) => outcomes.includes(outcome)) ?? 'Stale';
