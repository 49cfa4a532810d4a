import { attribute } from '../../../lambda/queue/message.ts';
import { REPLAY_NAME, type Replay, replayModes } from '../../../lambda/queue/replay.ts';
import type { JsonSchema } from './field-schemas.ts';
import { eventId, REQUEST_ID, requestId } from './ids.ts';

/** Every attribute that a message on a queue may have, by its name. All are of the data type `String`. */
const schemas: Readonly<Record<keyof typeof attribute, JsonSchema>> = {
  event: { type: 'string', description: 'The kind of event.' },
  eventId,
  receivedAt: { type: 'string', format: 'date-time', description: 'When the receiver got the delivery.' },
  requestId,
  payloadKey: {
    type: 'string',
    description: 'Of a payload that is too large for a message: its key in the payload bucket.',
  },
  replay: {
    type: 'string',
    contentMediaType: 'application/json',
    description: `Of a message that a replay has sent: JSON with its \`name\` (\`${REPLAY_NAME.source}\`), its \`mode\` (${replayModes.join(' or ')}), and whether it is to \`notify\` again.`,
  },
  reason: { type: 'string', description: 'Why the payload is unusable, in one line.' },
  failureReason: { type: 'string', description: 'What made the message a dead letter.' },
  failedAt: { type: 'string', format: 'date-time', description: 'When it became one.' },
};

const exampleReplay: Replay = { name: 'outage-of-january', mode: 'fill', notify: false };

const EXAMPLES: Readonly<Record<Exclude<Name, 'event' | 'eventId' | 'payloadKey'>, string>> = {
  receivedAt: '2026-01-31T09:30:00.123Z',
  requestId: REQUEST_ID,
  replay: JSON.stringify(exampleReplay),
  reason: 'data.shop_id is missing: expected a non-empty string',
  failureReason: 'DynamoDB UpdateItem: ResourceNotFoundException: Requested resource not found',
  failedAt: '2026-01-31T12:30:00.456Z',
};

type Name = keyof typeof attribute;

/**
 * The attributes of a message, as AsyncAPI's headers.
 * @param event its only value of `event`; undefined: any
 * @param required those that are always there
 */
export function attributesSchema(
  event: string | undefined,
  required: readonly Name[],
  optional: readonly Name[],
): JsonSchema {
  const properties = [...required, ...optional].map((name) => [
    attribute[name],
    name === 'event' && event !== undefined ? { ...schemas.event, const: event } : schemas[name],
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required: required.map((name) => attribute[name]) }),
  };
}

/** What the receiver and a replay write on every message. */
export const sentAttributes = ['event', 'eventId', 'receivedAt'] as const;

/** What the receiver writes on every message. A replay has no request of what somebody once sent by hand. */
export const receivedAttributes = [...sentAttributes, 'requestId'] as const;

/** Attributes of an example. */
export function exampleAttributes(
  facts: { readonly event: string; readonly eventId: string; readonly payloadKey?: string },
  more: readonly Exclude<Name, 'event' | 'eventId' | 'payloadKey'>[] = [],
): Readonly<Record<string, string>> {
  const names = ['receivedAt', 'requestId', ...more] as const;
  return { ...facts, ...Object.fromEntries(names.map((name) => [attribute[name], EXAMPLES[name]])) };
}
