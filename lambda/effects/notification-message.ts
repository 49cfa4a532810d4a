import { MAX_NOTIFICATION_VALUE_LENGTH } from '../limits.ts';
import { escapeForSqs } from '../queue/message.ts';
import type { Replay } from '../queue/replay.ts';

/**
 * The content of a message for people: a title, and labelled lines. Lines without a value are left out. The title is
 * also the subject ({@link subjectOf}).
 */
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

/** Maximum length of a subject. Source: Amazon SNS API reference, `Publish`: less than 100 characters. */
const MAX_SUBJECT_LENGTH = 99;

/**
 * Control characters, line breaks, and all characters that UTF-16 writes as surrogates, such as emoji. Source: as for
 * {@link MAX_SUBJECT_LENGTH}. SNS refuses surrogates in attributes, and says nothing about subjects.
 */
const NOT_IN_SUBJECT = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\uFFFE\uFFFF\u{10000}-\u{10FFFF}]/gu;

/**
 * The title as a subject that SNS accepts. The message has the title itself.
 * @returns undefined if nothing is left of it, because SNS accepts no empty subject
 */
export function subjectOf(title: string): string | undefined {
  const subject = title.replace(NOT_IN_SUBJECT, ' ').replace(/ +/g, ' ').trim();
  return subject.length <= MAX_SUBJECT_LENGTH
    ? subject || undefined
    : `${subject.slice(0, MAX_SUBJECT_LENGTH - 1)}…`;
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
function textsForPeople({ title: whole, lines }: NotificationContent): { default: string; https: string } {
  const title = shortened(whole);
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
      title: shortened(title),
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
  // A character has at most two units. A text of 5 MB as an array of its characters would take 50 MB.
  const characters = Array.from(value.slice(0, 2 * (MAX_NOTIFICATION_VALUE_LENGTH + 1)));
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
