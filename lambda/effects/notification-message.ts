import { escapeForSqs } from '../queue/message.ts';
import type { Replay } from '../queue/replay.ts';

/** What people are told of an event: a title, and labelled lines, of which those without a value are left out. */
export interface NotificationContent {
  readonly title: string;
  readonly lines: readonly (readonly [label: string, value: string | undefined])[];
}

/** What a notification is about. */
export interface NotificationFacts {
  readonly eventId: string;
  /** The partner's, in fixed width: the order of the texts is the order in time. */
  readonly timestamp: string;
  /** What the event's schema has of `data`, under the partner's names. */
  readonly data: Readonly<Record<string, string | undefined>>;
  /** That sent the event; undefined of a delivery. */
  readonly replay: Replay | undefined;
}

export interface Notification extends NotificationFacts, NotificationContent {
  readonly event: string;
}

/**
 * Longest value that a notification carries, in characters. SNS takes 256 KB, which the texts of all protocols share,
 * and a chat room reads a sentence. Source: Amazon SNS API reference, `Publish`.
 */
export const MAX_VALUE_LENGTH = 1000;

/**
 * The message of a notification, for SNS' `MessageStructure: json`: by protocol what people get of it, and for functions
 * and queues a JSON document.
 */
export function notificationMessage(notification: Notification): string {
  const document = documentForPrograms(notification);
  return JSON.stringify({ ...textsForPeople(notification), lambda: document, sqs: document });
}

/**
 * Readable text for e-mail and everything else, and for HTTPS the custom notification of Amazon Q Developer in chat
 * applications (user guide, "Custom notifications using Amazon Q Developer"), which shows it in Slack and Teams.
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
 * JSON (docs/api/schemas/notification.json). It names a replay only if that notifies again: what has been done for the
 * event is to be done once more then, and never otherwise.
 */
function documentForPrograms({ event, eventId, timestamp, title, data, replay }: Notification): string {
  return escapeForSqs(
    JSON.stringify({
      event,
      eventId,
      timestamp,
      title,
      data: Object.fromEntries(shortenedValues(Object.entries(data))),
      replay: replay?.notify ? replay.name : undefined,
    }),
  );
}

/** Values that are there; the rest of a longer one is cut, between characters. */
function shortenedValues(entries: readonly (readonly [string, string | undefined])[]): [string, string][] {
  return entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, shortened(value)]]));
}

function shortened(value: string): string {
  const characters = Array.from(value);
  return characters.length <= MAX_VALUE_LENGTH ? value : `${characters.slice(0, MAX_VALUE_LENGTH).join('')}…`;
}

/** In Slack these three make mentions and links (`<!channel>`): a review must not ring everybody's telephone. */
function escapeMarkdown(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
