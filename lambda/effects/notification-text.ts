import type { Words } from '../events/words.ts';
import { type NotificationFacts, notificationDocument } from './notification-document.ts';
import { shortened } from './shortened.ts';

/** What people and programs are told. */
export interface Notification extends NotificationFacts, Words {}

/**
 * The message of a notification, for SNS' `MessageStructure: json`: by protocol what people get of it, and for functions
 * and queues a JSON document.
 */
export function notificationMessage(notification: Notification): string {
  const document = notificationDocument(notification);
  return JSON.stringify({ ...textsForPeople(notification), lambda: document, sqs: document });
}

/**
 * Readable text for e-mail and everything else, and for HTTPS the custom notification of Amazon Q Developer in chat
 * applications (user guide, "Custom notifications using Amazon Q Developer"), which shows it in Slack and Teams.
 */
function textsForPeople({ title, lines }: Words): { default: string; https: string } {
  const present = lines.flatMap(([label, value]) =>
    value === undefined ? [] : [[label, shortened(value)] as const],
  );
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

/** In Slack these three make mentions and links (`<!channel>`): a review must not ring everybody's telephone. */
function escapeMarkdown(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
