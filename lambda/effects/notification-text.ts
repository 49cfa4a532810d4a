import { type NotificationFacts, notificationDocument } from './notification-document.ts';
import { shortened } from './shortened.ts';

/** What a notification says: to programs its facts, to people a title and labelled lines of which absent ones are left out. */
export interface Notification extends NotificationFacts {
  readonly lines: readonly (readonly [label: string, value: string | undefined])[];
}

/**
 * The message of a notification, for SNS' `MessageStructure: json`: readable text for e-mail and
 * everything else; for HTTPS the custom notification of Amazon Q Developer in chat applications
 * (user guide, "Custom notifications using Amazon Q Developer"), which shows it in Slack and Teams; for functions and
 * queues a JSON document.
 */
export function notificationMessage(notification: Notification): string {
  const { title, lines } = notification;
  const present = lines.flatMap(([label, value]) =>
    value === undefined ? [] : [[label, shortened(value)] as const],
  );
  const plain = present.map(([label, value]) => `${label}: ${value}`).join('\n');
  const markdown = present.map(([label, value]) => `*${label}:* ${escapeMarkdown(value)}`).join('\n');
  const document = notificationDocument(notification);
  return JSON.stringify({
    default: present.length > 0 ? `${title}\n\n${plain}` : title,
    https: JSON.stringify({
      version: '1.0',
      source: 'custom',
      content: { textType: 'client-markdown', title, description: markdown || title },
    }),
    lambda: document,
    sqs: document,
  });
}

/** In Slack these three make mentions and links (`<!channel>`): a review must not ring everybody's telephone. */
function escapeMarkdown(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
