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

/** Attributes of an item to set. An undefined one is removed. */
type AttributeChange = Readonly<Record<string, string | undefined>>;

/** An update whose fields are changes of the item, by the names of their versions. */
type PreparedUpdate = Omit<ContactUpdate, 'fields'> & {
  readonly fields: ReadonlyMap<string, AttributeChange>;
};

/**
 * The contact_partner records, one item per user. A field that an event does not contain keeps its value. Therefore
 * each field has its own version: otherwise a late event would be skipped even for fields that no newer event has
 * changed.
 */
export class ContactPartner {
  readonly #client: DynamoDBClient;
  readonly #table = requireEnvironment(['CONTACT_PARTNER_TABLE']).CONTACT_PARTNER_TABLE;

  constructor(client = new DynamoDBClient(clientSettings)) {
    this.#client = client;
  }

  /** Writes the fields of the event that no newer event has written. */
  async update({ fields, ...event }: ContactUpdate): Promise<EffectOutcome> {
    const update = { ...event, fields: fieldChanges(fields, event.version) };
    if (isRepair(update.replay)) return await this.#repair(update);
    // An event newer than the record is newer than each field: usually one write is enough.
    const record = await this.#write(update, wholeRecord(update), mayWrite(update));
    if (record === 'Processed') return 'Processed';
    return combined([record, ...(await this.#writeFields(update))]);
  }

  /**
   * Compares each field with its own version, regardless of the record's version. If a field has this event's version
   * but the event does not contain the field, its version is removed, so that the right event can write it.
   */
  async #repair(update: PreparedUpdate): Promise<EffectOutcome> {
    const absent = CONTACT_FIELDS.map(versionName).filter((name) => !update.fields.has(name));
    const nothingNewer = ['version', ...update.fields.keys()].map((name) => mayWrite(update, name));
    const nothingMislabelled = absent.map((name) => `NOT ${name} = :version`);
    const condition = [...nothingNewer, ...nothingMislabelled].join(' AND ');
    if ((await this.#write(update, wholeRecord(update), condition)) === 'Processed') return 'Processed';
    // The record is written before its fields: a live delivery compares the versions of fields only if the record's
    // version is newer.
    const record = await this.#write(update, recordVersion(update), mayWrite(update));
    const [fields, removed] = await Promise.all([
      this.#writeFields(update),
      Promise.all(absent.map((name) => this.#write(update, { [name]: undefined }, `${name} = :version`))),
    ]);
    return combined([record, ...fields, ...removed]);
  }

  async #writeFields(update: PreparedUpdate): Promise<EffectOutcome[]> {
    return await Promise.all(
      [...update.fields].map(([name, change]) => this.#write(update, change, mayWrite(update, name))),
    );
  }

  async #write(
    { userId, version, fields }: PreparedUpdate,
    change: AttributeChange,
    condition: string,
  ): Promise<EffectOutcome> {
    const set = Object.keys(change).filter((name) => change[name] !== undefined);
    const removed = Object.keys(change).filter((name) => change[name] === undefined);
    const expressions = [
      ...(set.length > 0 ? [`SET ${set.map((name) => `${name} = :${name}`).join(', ')}`] : []),
      ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
    ];
    const values = Object.fromEntries(set.map((name) => [`:${name}`, { S: String(change[name]) }]));
    return await versionedWrite(
      version,
      () =>
        this.#client.send(
          new UpdateItemCommand({
            TableName: this.#table,
            Key: { user_id: { S: tableKey(userId) } },
            UpdateExpression: expressions.join(' '),
            ConditionExpression: condition,
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            ExpressionAttributeValues: { ...values, ':version': { S: version } },
          }),
        ),
      ['version', ...fields.keys()],
    );
  }
}

const versionName = (field: string) => `${field}_version`;

/**
 * The changes by an event's fields. A value that no item can hold is removed under the event's version, so that no older
 * value comes back.
 */
function fieldChanges(fields: ContactFields, version: string): Map<string, AttributeChange> {
  const changes = new Map<string, AttributeChange>();
  for (const name of CONTACT_FIELDS) {
    if (fields[name] === undefined) continue;
    const value = storableText(name, fields[name]);
    changes.set(versionName(name), { [name]: value, [versionName(name)]: version });
  }
  return changes;
}

const recordVersion = ({ version, receivedAt }: PreparedUpdate) => ({ version, updated_at: receivedAt });

const wholeRecord = (update: PreparedUpdate): AttributeChange =>
  Object.assign(recordVersion(update), ...update.fields.values());

/** The combined outcome: `Processed` if any write was made, else `Duplicate` if any was a duplicate, else `Stale`. */
const combined = (outcomes: readonly EffectOutcome[]): EffectOutcome =>
  (['Processed', 'Duplicate'] as const).find((outcome) => outcomes.includes(outcome)) ?? 'Stale';
