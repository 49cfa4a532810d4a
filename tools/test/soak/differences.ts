import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Message } from '@aws-sdk/client-sqs';
import type { LocalStack } from 'local-aws';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { MAX_RECEIVES, UNARCHIVED_RECEIVES } from '../../../lambda/limits.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { essence, expectedState, type ReceivedDelivery } from '../../../test/support/oracle.ts';
import type { Queues } from '../../../test/support/queues.ts';
import { type Row, Tables } from '../../../test/support/tables.ts';
import { readArchive } from '../../stage/archive/read-archive.ts';
import { jsonOf } from '../../stage/json.ts';
import { storedPayload } from '../../stage/queues/received-message.ts';
import { Stage } from '../../stage/stage.ts';
import type { Kind, PlannedBody } from './partner.ts';

/** Receives and deletes every message of some queues. Waits for messages that are in flight. */
export async function takeAll(queues: Queues, urls: readonly string[]): Promise<Message[]> {
  const taken: Message[] = [];
  for (const url of urls) while ((await queues.count(url)) > 0) taken.push(...(await queues.takeAll(url)));
  return taken;
}

const eventIdOf = ({ MessageAttributes }: Message) => MessageAttributes?.eventId?.StringValue ?? '';

export const idOf = (body: string) => createHash('sha256').update(body).digest('hex');

const ofKind = (plan: readonly PlannedBody[], wanted: Kind) =>
  new Set(plan.filter(({ kind }) => kind === wanted).map(({ body }) => idOf(body)));

export async function stateDifferences(
  stack: LocalStack,
  deliveries: readonly ReceivedDelivery[],
): Promise<string[]> {
  const tables = new Tables(stack.operator);
  const { shops, cast, contacts } = expectedState(deliveries);
  const { ShopCacheTable, CastTable, ContactPartnerTable } = stack.outputs;
  return [
    ...tableDifferences('shop cache', 'shop_id', await tables.scan(ShopCacheTable), shops),
    ...tableDifferences('cast', 'girl_id', await tables.scan(CastTable), cast),
    ...tableDifferences('contact_partner', 'user_id', await tables.scan(ContactPartnerTable), contacts),
  ];
}

function tableDifferences(
  table: string,
  key: string,
  rows: readonly Row[],
  expected: Map<string, Row>,
): string[] {
  const actual = new Map(rows.map((row) => [String(row[key]), canonical(row)]));
  const ids = new Set([...actual.keys(), ...expected.keys()]);
  return [...ids]
    .filter((id) => actual.get(id) !== canonical(expected.get(id)))
    .map((id) => `${table} ${id}: is ${actual.get(id)}, must be ${canonical(expected.get(id))}`);
}

/** An item as text with sorted attributes. Values that are too large for an item are left out. */
function canonical(row: Row | undefined): string | undefined {
  const { notes, data, ...columns } = essence(row) ?? {};
  if (row === undefined) return undefined;
  const kept = typeof data === 'string' && data.length < 256 * 1024 ? { data } : {};
  return JSON.stringify(Object.entries({ ...columns, ...kept }).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @param possiblyRepeated ids of events for which a consumer logged that it may notify twice */
export function notificationDifferences(
  plan: readonly PlannedBody[],
  notified: readonly Message[],
  possiblyRepeated: ReadonlySet<string>,
): string[] {
  const sent = Map.groupBy(notified, eventIdOf);
  return [
    ...setDifferences('among the notifications', ofKind(plan, 'notification'), new Set(sent.keys())),
    ...[...sent]
      .filter(([id, { length }]) => length > 1 && !possiblyRepeated.has(id))
      .map(([id, { length }]) => `notification ${id} was sent ${length} times`),
  ];
}

/**
 * Messages that must be on other queues at the end: hopeless events as dead letters, unusable ones in
 * quarantine, unknown kinds as parked messages.
 */
export async function queueDifferences(stack: LocalStack, queues: Queues, plan: readonly PlannedBody[]) {
  const idsOn = async (name: RegExp) => {
    const urls = Object.entries(stack.outputs).filter(([output]) => name.test(output));
    const messages = await takeAll(
      queues,
      urls.map(([, url]) => url),
    );
    return new Set(messages.map(eventIdOf));
  };
  const deadLetterIds = await idsOn(/DeadLetterQueueUrl$/);
  const differences = [
    ...setDifferences('on the dead-letter queues', ofKind(plan, 'hopeless'), deadLetterIds),
    ...setDifferences('in quarantine', ofKind(plan, 'malformed'), await idsOn(/^QuarantineQueueUrl$/)),
    ...setDifferences('on the unrouted queue', ofKind(plan, 'unknown'), await idsOn(/^UnroutedQueueUrl$/)),
  ];
  return { deadLetterIds, differences };
}

const setDifferences = (where: string, expected: ReadonlySet<string>, actual: ReadonlySet<string>) => [
  ...[...expected.difference(actual)].map((id) => `event ${id} is not ${where}`),
  ...[...actual.difference(expected)].map((id) => `event ${id} is ${where}, and must not be`),
];

/** A body that the receiver accepted for the queue of its event: neither parked nor in quarantine. */
export interface AcceptedBody {
  readonly kind: Kind;
  readonly body: string;
}

/** Possible outcomes in the archive, by kind of body. */
const OUTCOMES: Partial<Record<Kind, readonly string[]>> = {
  state: ['Processed', 'Stale', 'Duplicate'],
  'clock-ahead': ['Processed', 'Stale', 'Duplicate'],
  notification: ['Processed', 'Duplicate'],
  hopeless: ['DeadLettered'],
};

/** Accepted events without a record in the archive, and records that contradict their event. */
export async function archiveDifferences(
  stack: LocalStack,
  accepted: readonly AcceptedBody[],
  deadLetterIds: ReadonlySet<string>,
): Promise<{ records: number; differences: string[] }> {
  const stage = new Stage('the local stack', stack.outputs);
  const bodies = new Map(
    accepted.filter(({ kind }) => kind in OUTCOMES).map((item) => [idOf(item.body), item]),
  );
  const missingOf = (records: readonly ArchiveRecord[]) => {
    const ids = new Set(records.filter(({ replay }) => replay === undefined).map(({ eventId }) => eventId));
    return [...bodies.keys()].filter((id) => !ids.has(id) && !deadLetterIds.has(id));
  };
  let records: ArchiveRecord[] = [];
  let damaged: readonly string[] = [];
  await eventually(
    async () => {
      const found: ArchiveRecord[] = [];
      const reading = readArchive(stage);
      for await (const object of reading) {
        for (const record of object.records()) found.push(record);
      }
      records = found;
      damaged = reading.damaged;
      return missingOf(records).length === 0 || undefined;
    },
    { interval: 500 },
  ).catch(() => {});
  const differences = [
    ...missingOf(records).map((id) => `event ${id} is neither archived nor a dead letter`),
    ...damaged.map((one) => `damaged: ${one}`),
  ];
  for (const record of records) {
    const sent = bodies.get(record.eventId);
    const faults = await faultsOf(record, sent, async (key) => String(await storedPayload(stage, key)));
    differences.push(...faults.map((fault) => `archived event ${record.eventId}: ${fault}`));
  }
  stage.close();
  return { records: records.length, differences };
}

/** Contradictions between an archive record and the body with the record's event id. */
async function faultsOf(
  record: ArchiveRecord,
  sent: AcceptedBody | undefined,
  stored: (payloadKey: string) => Promise<string>,
): Promise<string[]> {
  if (sent === undefined) return ['was never accepted'];
  const payload = JSON.parse(sent.body);
  const rules: [string, boolean][] = [
    [`names the event ${record.event}`, record.event === payload.event],
    [
      `has the outcome ${record.outcome}, which a ${sent.kind} body cannot have`,
      (OUTCOMES[sent.kind] ?? []).includes(record.outcome),
    ],
    [
      `has the attempt ${record.attempt}`,
      record.attempt >= 1 && record.attempt <= MAX_RECEIVES + UNARCHIVED_RECEIVES,
    ],
  ];
  const text = record.body ?? (await stored(record.payloadKey ?? ''));
  rules.push(['has another payload than was sent', isDeepStrictEqual(jsonOf(text), payload)]);
  return rules.filter(([, holds]) => !holds).map(([fault]) => fault);
}
