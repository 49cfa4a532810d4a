import { sha256Hex } from '../../../lambda/hash.ts';

/**
 * Restores the partner's bytes. The archive and the queues store two characters escaped because SQS rejects them
 * (decision D14).
 */
export function bytesAsSent(body: string, eventId: string): Buffer {
  const unchanged = Buffer.from(body);
  if (sha256Hex(unchanged) === eventId) return unchanged;
  const unescaped = body.replace(/\\u(fff[ef])/g, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const sent = Buffer.from(unescaped);
  return sha256Hex(sent) === eventId ? sent : unchanged;
}
