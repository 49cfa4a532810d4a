import { catalogue, type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import {
  CLOCK_TOLERANCE,
  DEAD_LETTER_RETENTION_DAYS,
  ENCODED_BODY_MEGABYTES,
  EVENT_MEGABYTES,
  EVENT_RETENTION_DAYS,
  FIRST_RETRY_SECONDS,
  GATEWAY_BODY_MEGABYTES,
  GATEWAY_TIMEOUT_SECONDS,
  MAX_RECEIVES,
  MAX_RETRY_SECONDS,
  NOTIFICATION_RECORD_DAYS,
  REPLAYABLE_DAYS,
  RETRY_JITTER,
  SECRET_MAX_AGE,
  SECRET_REFRESH_INTERVAL,
  TOMBSTONE_DAYS,
} from '../../lambda/limits.ts';
import { dataSchema } from '../api/json-schema.ts';

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

interface FieldJson {
  readonly type?: string;
  readonly items?: FieldJson;
  readonly oneOf?: readonly FieldJson[];
  readonly anyOf?: readonly FieldJson[];
}

const schemaOf = (event: EventName) => {
  const { properties, required = [] } = dataSchema(event);
  return {
    properties: properties as Readonly<Record<string, FieldJson>>,
    required: required as readonly string[],
  };
};

/**
 * A table for `docs/partner.md`: every event with each field of `data` that is read. Fields of one type are listed
 * together.
 */
export function partnerEventsTable(): string {
  const rows = eventNames.map((event) => {
    const { properties, required } = schemaOf(event);
    const byType = Map.groupBy(Object.entries(properties), ([, schema]) => typeText(schema));
    const fields = [...byType].map(([type, named]) => {
      const names = named.map(([name]) => `\`${name}${required.includes(name) ? '' : '?'}\``);
      return `${names.join(', ')}: ${type}`;
    });
    return [`\`${event}\``, catalogue[event].meaning, fields.join('; ')];
  });
  return markdownTable(['`event`', 'When', '`data`'], rows);
}

function typeText({ type, items, oneOf = [], anyOf = [] }: FieldJson): string {
  if (items !== undefined) return `array of ${items.type}`;
  return [type ?? [], [...oneOf, ...anyOf].map((one) => one.type ?? [])].flat(2).join(' or ');
}

/** A table for `docs/how-it-works.md`: limits and times that a stage cannot set, from `lambda/limits.ts`. */
export function limitsTable(): string {
  const rows: readonly (readonly [what: string, value: string])[] = [
    ['body that a gateway accepts', `${GATEWAY_BODY_MEGABYTES} MB`],
    ['JSON that an HTTP API can pass to Lambda', `about ${EVENT_MEGABYTES} MB`],
    ['other bodies, and all bodies with a REST API', `${ENCODED_BODY_MEGABYTES} MB`],
    ['gateway waits for the receiver', `${GATEWAY_TIMEOUT_SECONDS} s`],
    ['receivers cache the secret', `${SECRET_MAX_AGE / 60_000} minutes`],
    ['they read it again after wrong signatures', `at most every ${SECRET_REFRESH_INTERVAL / 1000} s`],
    ['a `timestamp` may be ahead', `${CLOCK_TOLERANCE / 60_000} minutes`],
    ['attempts of a message', `${MAX_RECEIVES}`],
    [
      'delay before the first retry',
      `${FIRST_RETRY_SECONDS} s ± ${RETRY_JITTER * 100} %; doubles up to ${MAX_RETRY_SECONDS / 60} minutes`,
    ],
    ['messages stay on an event queue', `${EVENT_RETENTION_DAYS} days`],
    ['messages stay on other queues', `${DEAD_LETTER_RETENTION_DAYS} days`],
    ['tombstones stay', `${TOMBSTONE_DAYS} days`],
    ['notification records stay', `${NOTIFICATION_RECORD_DAYS} days`],
    ['a replay reaches back', `${REPLAYABLE_DAYS} days`],
  ];
  return markdownTable(['What', 'Limit'], rows);
}
