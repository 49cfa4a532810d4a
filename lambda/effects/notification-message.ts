import { MAX_NOTIFICATION_VALUE_LENGTH } from '../limits.ts';
import { escapeForSqs } from '../queue/message.ts';
import type { Replay } from '../queue/replay.ts';

/** The content of a message for people: a title, and labelled lines. Lines without a value are left out. */
export interface NotificationContent {
  readonly title: string;
  readonly lines: readonly (readonly [label: string, value: string | undefined])[];
}

export interface NotifiedEvent {
  readonly eventId: string;
  /** The partner's timestamp in fixed width, so that text order is time order. */
  readonly timestamp: string;
  /**
   * The time by which tables are ordered (decision D8), in the same width. Subscribers need this time to apply events
   * in the same order.
   */
  readonly effectiveTimestamp: string;
  /** The fields of `data` in the event's schema, under the partner's names. */
  readonly data: Readonly<Record<string, string | undefined>>;
  /** The replay that sent the event; undefined for a delivery. */
  readonly replay: Replay | undefined;
}

export interface Notification extends NotifiedEvent, NotificationContent {
  readonly event: string;
}

/**
 * The message for SNS with `MessageStructure: json`: a text for each protocol, and a JSON document for functions and
 * queues.
 */
export function notificationMessage(notification: Notification): string {
  const document = documentForPrograms(notification);
  return JSON.stringify({ ...textsForPeople(notification), lambda: document, sqs: document });
}

/**
 * Plain text for e-mail and all other protocols. For HTTPS, the custom notification format of Amazon Q Developer in
 * chat applications (user guide, "Custom notifications using Amazon Q Developer"), which appears in Slack and Teams.
 */
function textsForPeople({ title, lines }: NotificationContent): { default: string; https: string } {
  const present = shortenedValues(lines);
  const plain = present.map(([label, value]) => `${label}: ${value}`).join('\n');
  const markdown = present.map(([label, value]) => `*${label}:* ${escapeMarkdown(value)}`).join('\n');
  return {
    default: present.length > 0 ? `${title}\n\n${plain}` : title,
    https: JSON.stringify({
      version: '1.0',
      source: 'custom',
      content: { textType: 'client-markdown', title, description: markdown || title },
    }),
  };
}

/**
 * JSON text (docs/api/schemas/notification.json). Names a replay only if it notifies again: that tells programs to
 * process the event once more.
 */
function documentForPrograms(notification: Notification): string {
  const { event, eventId, timestamp, effectiveTimestamp, title, data, replay } = notification;
  return escapeForSqs(
    JSON.stringify({
      event,
      eventId,
      timestamp: effectiveTimestamp,
      partnerTimestamp: timestamp === effectiveTimestamp ? undefined : timestamp,
      title,
      data: Object.fromEntries(shortenedValues(Object.entries(data))),
      replay: replay?.notify ? replay.name : undefined,
    }),
  );
}

/** Drops missing values and shortens long ones, without splitting a character. */
function shortenedValues(entries: readonly (readonly [string, string | undefined])[]): [string, string][] {
  return entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, shortened(value)]]));
}

function shortened(value: string): string {
  const characters = Array.from(value);
  return characters.length <= MAX_NOTIFICATION_VALUE_LENGTH
    ? value
    : `${characters.slice(0, MAX_NOTIFICATION_VALUE_LENGTH).join('')}…`;
}

/**
 * Escapes the three characters that make mentions and links in Slack (`<!channel>`). A review must not alert a whole
 * channel.
 */
function escapeMarkdown(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
