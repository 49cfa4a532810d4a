import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { CONTACT_FIELDS } from '../../../lambda/effects/contact-partner.ts';
import { tableKey } from '../../../lambda/effects/item-values.ts';
import { DEAD_LETTER_RETENTION_DAYS, TOMBSTONE_DAYS, TOMBSTONE_SECONDS } from '../../../lambda/limits.ts';
import { counted, messages, shellWord } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { deleteLogged, notDiscarded } from '../queues/dlq-discard.ts';
import { queueState, removedQueues, waitingQueues } from '../queues/queue.ts';
import { bytesInMessage, type ReadMessage, storedPayload } from '../queues/received-message.ts';
import { selectMessages } from '../queues/selected-messages.ts';
import { deleteObjects, keysUnder } from '../s3-objects.ts';
import type { Stage } from '../stage.ts';
import { mentionIn, type Person, type PlaceOfPerson } from './person.ts';
import { dateIn } from './read-archive.ts';

/** Keys of the payloads that name a person: of events, parked, quarantined, or copied by a redrive. */
export async function findPayloads(
  { stack, signal, progress }: Operation,
  persons: readonly Person[],
): Promise<string[]> {
  const found: string[] = [];
  const keys = await keysUnder(stack, stack.payloadBucket, '');
  for (const [index, key] of keys.entries()) {
    if (signal.aborted) break;
    const payload = await storedPayload(stack, key);
    if (payload && mentionIn(payload.toString(), persons)) found.push(key);
    progress.show({ doing: 'Searching', done: index + 1, total: keys.length, unit: 'payloads' });
  }
  progress.end();
  return found;
}

/** @param what the objects are, after their number */
export const objectsOf = (
  stack: Stage,
  bucket: string,
  keys: readonly string[],
  what: string,
): PlaceOfPerson => ({
  found: keys.length > 0 ? [`To delete: ${counted(keys.length, 'object')} ${what}`] : [],
  async remove() {
    await deleteObjects(stack, bucket, keys);
    return [];
  },
});

/** Items with personal data. A tombstone replaces them. */
export async function findItems(stack: Stage, persons: readonly Person[]): Promise<PlaceOfPerson> {
  const items = (await Promise.all(persons.map((person) => findItem(stack, person)))).flat();
  return {
    found: items.map(({ TableName }) => `To replace by a tombstone: the item in ${TableName}`),
    left: items.map(tombstoneText),
    async remove() {
      for (const item of items) await leaveTombstone(stack, item);
      return [];
    },
  };
}

type FoundItem = Awaited<ReturnType<typeof findItem>>[number];

/** The person's item in the table of contacts or of the cast, if it has more than a tombstone. */
async function findItem(stack: Stage, { kind, id }: Person) {
  const TableName = stack.output(kind === 'user' ? 'ContactPartnerTable' : 'CastTable');
  const Key = { [`${kind}_id`]: { S: tableKey(id) } };
  const { Item = {} } = await stack.dynamodb.send(
    new GetItemCommand({ TableName, Key, ConsistentRead: true }),
  );
  const personal = kind === 'user' ? CONTACT_FIELDS : ['name', 'data'];
  const isTombstone = kind === 'user' || Item.status?.S === 'deleted' || Item.status === undefined;
  if (isTombstone && !personal.some((name) => name in Item)) return [];
  return [{ kind, TableName, Key }];
}

/**
 * Replaces an item by a tombstone, so that no older event that is still on its way writes it again. The one of a contact
 * has the id and the versions. That of the cast is the one of `girl.deleted`, which expires.
 */
async function leaveTombstone({ dynamodb }: Stage, { kind, TableName, Key }: FoundItem): Promise<void> {
  const expires = Math.floor(Date.now() / 1000) + TOMBSTONE_SECONDS;
  const change =
    kind === 'user'
      ? {
          UpdateExpression: `SET ${CONTACT_FIELDS.map((name) => `${name}_version = version`)} REMOVE ${CONTACT_FIELDS}`,
        }
      : {
          UpdateExpression: 'SET #status = :deleted, expires_at = :expires REMOVE #name, #data',
          ExpressionAttributeNames: { '#status': 'status', '#name': 'name', '#data': 'data' },
          ExpressionAttributeValues: { ':deleted': { S: 'deleted' }, ':expires': { N: String(expires) } },
        };
  await dynamodb.send(new UpdateItemCommand({ TableName, Key, ...change }));
}

function tombstoneText({ kind, TableName, Key }: FoundItem): string {
  const day = dateIn(TOMBSTONE_DAYS);
  if (kind === 'girl') return `The tombstone in ${TableName}, with the id, expires on ${day}.`;
  const command = `aws dynamodb delete-item --table-name ${TableName} --key ${shellWord(JSON.stringify(Key))}`;
  return `The tombstone in ${TableName}, with the id, keeps late events out. Delete it from ${day} on: ${command}`;
}

/** The messages that name a person, on each queue that nothing consumes. */
export async function findMessages(
  operation: Operation,
  persons: readonly Person[],
  payloads: ReadonlySet<string>,
): Promise<PlaceOfPerson> {
  const { stack } = operation;
  const isNamed = (message: ReadMessage) => {
    const { payloadKey: key } = message.attributes;
    if (key !== undefined) return payloads.has(key);
    const text = (bytesInMessage(message) ?? Buffer.from(message.body)).toString();
    return mentionIn(text, persons) !== undefined;
  };
  const queues = [...waitingQueues(stack), ...(await removedQueues(stack))];
  const searched = await Promise.all(
    queues.map(async (queue) => {
      const { visible, inFlight } = await queueState(stack.sqs, queue.url);
      const ids = new Set<string>();
      const onMatch = (message: ReadMessage) => isNamed(message) && ids.add(message.id);
      const { selected, seen } = await selectMessages(operation, queue, {}, { onMatch });
      const named = selected.filter(({ messageId }) => ids.has(messageId));
      return { queue, selected: named, unseen: Math.max(0, visible + inFlight - seen) };
    }),
  );
  const affected = searched.filter(({ selected }) => selected.length > 0);
  return {
    found: affected.map(
      ({ queue, selected }) => `To discard: ${messages(selected.length)} on ${queue.title}`,
    ),
    unsearched: searched
      .filter(({ unseen }) => unseen > 0)
      .map(
        ({ queue, unseen }) =>
          `Not searched: ${messages(unseen)} in flight on ${queue.title}. Repeat the command in a minute. SQS deletes them by ${dateIn(DEAD_LETTER_RETENTION_DAYS)}`,
      ),
    async remove() {
      const who = { by: await stack.caller(), reason: 'a person is forgotten' };
      let left = 0;
      for (const selection of affected) {
        if (operation.signal.aborted) break;
        left += selection.selected.length - (await deleteLogged(operation, selection, who)).discarded;
      }
      return left > 0 ? [`${notDiscarded(left)} Repeat the command in a minute.`] : [];
    },
  };
}
