import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { CONTACT_FIELDS } from '../../../lambda/effects/contact-partner.ts';
import { tableKey } from '../../../lambda/effects/item-values.ts';
import { TOMBSTONE_SECONDS } from '../../../lambda/limits.ts';
import { shellWord } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { queueState, removedQueues, waitingQueues } from '../queues/queue.ts';
import { attributesOf, describeMessage, readPayload, storedPayload } from '../queues/received-message.ts';
import { selectMessages } from '../queues/selected-messages.ts';
import type { Stage } from '../stage.ts';
import { mentionIn, type Person } from './person.ts';
import { keysUnder } from './read-archive.ts';

/** Keys of the payloads that name a person: of events, parked, quarantined, or copied by a redrive. */
export async function findPayloads(
  { stack, signal, progress }: Operation,
  persons: readonly Person[],
): Promise<Set<string>> {
  const found = new Set<string>();
  const keys = await keysUnder(stack, stack.payloadBucket, '');
  for (const [index, key] of keys.entries()) {
    if (signal.aborted) break;
    const payload = await storedPayload(stack, key);
    if (payload && mentionIn(payload.toString(), persons)) found.add(key);
    progress.show({ doing: 'Searching', done: index + 1, total: keys.length, unit: 'payloads' });
  }
  progress.end();
  return found;
}

/** The person's item in the table of contacts or of the cast, if it has more than a tombstone. */
export async function findItem(stack: Stage, { kind, id }: Person) {
  const TableName = stack.output(kind === 'user' ? 'ContactPartnerTable' : 'CastTable');
  const Key = { [`${kind}_id`]: { S: tableKey(id) } };
  const { Item = {} } = await stack.dynamodb.send(
    new GetItemCommand({ TableName, Key, ConsistentRead: true }),
  );
  const personal = kind === 'user' ? CONTACT_FIELDS : ['name', 'data'];
  const isTombstone = kind === 'user' || Item.status?.S === 'deleted' || Item.status === undefined;
  if (isTombstone && !personal.some((name) => name in Item)) return undefined;
  return { kind, TableName, Key };
}

/**
 * Replaces an item by a tombstone, so that no older event that is still on its way writes it again. The one of a contact
 * has the id and the versions. That of the cast is the one of `girl.deleted`, which expires.
 * @returns a sentence about the tombstone
 */
export async function leaveTombstone(
  { dynamodb }: Stage,
  { kind, TableName, Key }: NonNullable<Awaited<ReturnType<typeof findItem>>>,
): Promise<string> {
  const expires = Math.floor(Date.now() / 1000) + TOMBSTONE_SECONDS;
  const day = new Date(expires * 1000).toISOString().slice(0, 10);
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
  if (kind === 'girl') return `The tombstone in ${TableName}, with the id, expires on ${day}.`;
  const command = `aws dynamodb delete-item --table-name ${TableName} --key ${shellWord(JSON.stringify(Key))}`;
  return `The tombstone in ${TableName}, with the id, keeps late events out. Delete it from ${day} on: ${command}`;
}

/** The messages that name a person on each queue that nothing consumes, and how many were not seen: others have them. */
export async function findMessages(
  operation: Operation,
  persons: readonly Person[],
  payloads: ReadonlySet<string>,
) {
  const { stack } = operation;
  const queues = [...waitingQueues(stack), ...(await removedQueues(stack))];
  return Promise.all(
    queues.map(async (queue) => {
      const { visible, inFlight } = await queueState(stack.sqs, queue.url);
      const { selected, seen } = await selectMessages(operation, queue, {}, async (message) => {
        const { payloadKey: key } = attributesOf(message);
        const { bytes } = key === undefined ? await readPayload(stack, queue, message) : {};
        const text = (bytes ?? Buffer.from(message.body)).toString();
        const isNamed = key === undefined ? mentionIn(text, persons) !== undefined : payloads.has(key);
        return isNamed ? describeMessage(queue, message) : undefined;
      });
      const named = selected.flatMap(({ shown, ...one }) => (shown === undefined ? [] : { ...one, shown }));
      return { queue, named, unseen: Math.max(0, visible + inFlight - seen) };
    }),
  );
}
