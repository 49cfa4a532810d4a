/** What a notification says: a title, and labelled lines of which absent ones are left out. */
export interface NotificationText {
  readonly title: string;
  readonly lines: readonly (readonly [label: string, value: string | undefined])[];
}

/**
 * Longest value that is shown, in characters. The rest is cut: SNS takes 256 KB, and a chat room reads
 * a sentence. Source: Amazon SNS API reference, `Publish`.
 */
export const MAXIMUM_VALUE_LENGTH = 1000;

/**
 * The message of a notification, for SNS' `MessageStructure: json`: readable text for e-mail and
 * everything else, and for HTTPS the custom notification of Amazon Q Developer in chat applications
 * (user guide, "Custom notifications using Amazon Q Developer"), which shows it in Slack and Teams.
 */
export function notificationMessage({ title, lines }: NotificationText): string {
  const present = lines.flatMap(([label, value]) =>
    value === undefined ? [] : [[label, shorten(value)] as const],
  );
  const plain = present.map(([label, value]) => `${label}: ${value}`).join('\n');
  const markdown = present.map(([label, value]) => `*${label}:* ${escapeMarkdown(value)}`).join('\n');
  return JSON.stringify({
    default: present.length > 0 ? `${title}\n\n${plain}` : title,
    https: JSON.stringify({
      version: '1.0',
      source: 'custom',
      content: { textType: 'client-markdown', title, description: markdown || title },
    }),
  });
}

function shorten(value: string): string {
  const characters = Array.from(value);
  return characters.length <= MAXIMUM_VALUE_LENGTH
    ? value
    : `${characters.slice(0, MAXIMUM_VALUE_LENGTH).join('')}…`;
}

/** In Slack these three make mentions and links (`<!channel>`): a review must not ring everybody's telephone. */
function escapeMarkdown(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
