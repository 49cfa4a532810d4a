import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { Delivery, History } from './history.ts';

/** Bytes of a payload that a search covers. Indexing takes about 60 ms per MiB. */
const SEARCHED_BYTES = 1024 * 1024;

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** A payload as sent and, if that differs, without JSON escapes. */
export function searchableText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, SEARCHED_BYTES)).toString();
  if (!text.includes('\\')) return text.replaceAll('\0', ' ');
  const plain = text.replace(/\\(?:u([0-9a-f]{4})|(["\\/bfnrt]))/gi, (_, code?: string, character = '') =>
    code === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return `${text}\n${plain}`.replaceAll('\0', ' ');
}

/** The text, in addition to the payload, by which a search finds a delivery: ids, shop and error. */
export function deliveryText({ id, eventId, event, shopId, error }: Delivery, { steps }: History): string {
  const others = steps.flatMap((step) => [step.messageId, step.error]);
  return [...new Set([id, eventId, event, shopId, error, ...others])].filter(Boolean).join('\n');
}

/**
 * Whether a search finds a delivery by this record. Used to select records before they are added to a store: too many
 * records would push out the newest deliveries.
 */
export function hasText(
  { requestId, eventId, shopId, failureReason, body }: ArchiveRecord,
  text: string,
): boolean {
  if (requestId === undefined) return false;
  const all = [requestId, eventId, shopId, failureReason, body].filter(Boolean).join('\n');
  return searchableText(Buffer.from(all)).toLowerCase().includes(text.toLowerCase());
}
