import { catalogue, type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import type { EffectName } from '../../lambda/events/definition.ts';
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
  MEMORY_DAYS,
  REPLAYABLE_DAYS,
  RETRY_JITTER,
  SECRET_MAX_AGE,
  SECRET_REFRESH_INTERVAL,
} from '../../lambda/limits.ts';
import { type AlarmDefinition, alarmTable } from '../../lib/alarms/alarm-table.ts';
import { dataSchema } from '../api/json-schema.ts';

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** The stack output that belongs to each effect. */
const EFFECT_OUTPUTS: Readonly<Record<EffectName, string>> = {
  'shop-cache': 'ShopCacheTable',
  cast: 'CastTable',
  'contact-partner': 'ContactPartnerTable',
  chat: 'ChatTopicArn',
  review: 'ReviewTopicArn',
};

interface FieldJson {
  readonly type?: string;
  readonly items?: FieldJson;
  readonly oneOf?: readonly FieldJson[];
  readonly anyOf?: readonly FieldJson[];
}

const schemaOf = (event: EventName) => {
  const { properties, required = [] } = dataSchema(event, 'input');
  return {
    properties: properties as Readonly<Record<string, FieldJson>>,
    required: required as readonly string[],
  };
};

/**
 * A table for `docs/how-it-works.md`: every event with its processing, its required fields of `data`, and its output.
 */
export function eventsTable(): string {
  const rows = eventNames.map((event) => {
    const { processing, effect } = catalogue[event];
    const needs = schemaOf(event).required.map((name) => `\`${name}\``);
    return [`\`${event}\``, processing, needs.join(', ') || '–', `\`${EFFECT_OUTPUTS[effect]}\``];
  });
  return markdownTable(['Event', 'Processing', 'Needs', 'Output'], rows);
}

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
    ['tombstones and notification records stay', `${MEMORY_DAYS} days`],
    ['a replay reaches back', `${REPLAYABLE_DAYS} days`],
  ];
  return markdownTable(['What', 'Limit'], rows);
}

/**
 * Every alarm with a link to its section in the runbook, and when it fires, in the order of the sections: the most
 * urgent first. Alarms that differ only in their name share a row.
 * @param runbook `docs/operations.md`, with a section for each alarm
 * @throws Error if an alarm has no section
 */
export function alarmsTable(runbook: string): string {
  const titles = [...runbook.matchAll(/^### (.+)$/gm)].map(([, title = '']) => title);
  const alarms = Object.entries<AlarmDefinition>(alarmTable).map(([name, { metric, fires, section }]) => {
    const position = titles.findIndex((title) => anchor(title) === section);
    if (position === -1) throw new Error(`The alarm ${name} has no section with the anchor #${section}`);
    const statistic = metric.statistic.replace(/^[MS]/, (letter) => letter.toLowerCase());
    const metricText = `\`${metric.name}\` (${statistic}, ${duration(metric.period)})`;
    return { name, position, section, condition: `${metricText} ${firesAt(fires)}` };
  });
  const sorted = alarms.toSorted((one, other) => one.position - other.position);
  const rows = [...Map.groupBy(sorted, ({ section, condition }) => section + condition).values()].map(
    (same) => [
      same.map(({ name, section }) => `[\`${name}\`](#${section})`).join(', '),
      same[0]?.condition ?? '',
    ],
  );
  return markdownTable(['Alarm', 'Fires when'], rows);
}

const anchor = (title: string) => title.toLowerCase().replaceAll(' ', '-');

const COMPARISONS = { '>=': '≥', '<=': '≤', '<': '<' } as const;

const WITHOUT_VALUE = { BREACHING: ' or has no value', IGNORE: '; keeps its state without a value' };

function firesAt(fires: AlarmDefinition['fires']): string {
  const { comparison = '>=', threshold, thresholdInPause, timesSetting, unit, missingData } = fires;
  const amount = (value: number) => {
    if (timesSetting !== undefined) return `${value === 1 ? '' : `${value} × `}\`${timesSetting}\``;
    return unit === 'seconds' ? duration(value) : `${value.toLocaleString('en')} ${unit ?? ''}`.trim();
  };
  const inPause = thresholdInPause === undefined ? '' : ` (${amount(thresholdInPause)} in a pause)`;
  return [
    `${COMPARISONS[comparison]} ${amount(threshold)}${inPause}`,
    missingData === undefined ? '' : WITHOUT_VALUE[missingData],
    times(fires),
  ].join('');
}

function times({ periods = 1, periodsAtThreshold }: AlarmDefinition['fires']): string {
  const count = typeof periods === 'string' ? `\`${periods}\`` : periods;
  if (periodsAtThreshold !== undefined) return `, ${periodsAtThreshold} of ${count} times`;
  return periods === 1 ? '' : `, ${count} times in a row`;
}

/** Text of a duration, in the largest unit that leaves no fraction. */
function duration(seconds: number): string {
  const units = { day: 86_400, hour: 3_600, minute: 60 };
  const [unit, size] = Object.entries(units).find(([, length]) => seconds % length === 0) ?? ['second', 1];
  return `${seconds / size} ${unit}${seconds === size ? '' : 's'}`;
}
