import { shownId } from '../terminal/screen.ts';
import { printable } from '../terminal/text.ts';

export interface HttpAnswer {
  readonly status: number;
  /** Its JSON; where it is none, its text. */
  readonly body: unknown;
}

/** `200 queued  event 1a2b3c4d  request JKJaXmPL`; of an error what the answer says. */
export function answerText({ status, body }: HttpAnswer): string {
  if (typeof body !== 'object' || body === null) return `${status} ${printable(String(body))}`;
  const { status: word, detail, message, eventId, requestId } = body as Record<string, unknown>;
  return [
    `${status} ${typeof word === 'string' ? word : (detail ?? message ?? '')}`,
    ...(eventId === undefined ? [] : [`event ${shownId(String(eventId))}`]),
    ...(requestId === undefined ? [] : [`request ${shownId(String(requestId))}`]),
  ].join('  ');
}

/** The body of an answer as {@link HttpAnswer} has it. */
export function parsedAnswer(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
