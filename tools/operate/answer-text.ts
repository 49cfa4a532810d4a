import { shownId } from '../terminal/screen.ts';
import { printable } from '../terminal/text.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** `200 queued  event 1a2b3c4d  request JKJaXmPL`; of an error what the answer says. */
export function answerText({ status, body }: HttpAnswer, width?: number): string {
  const answer = parsedAnswer(body);
  if (typeof answer !== 'object' || answer === null) return `${status} ${printable(body)}`;
  const { status: word, detail, message, eventId, requestId } = answer as Record<string, unknown>;
  return [
    `${status} ${typeof word === 'string' ? word : (detail ?? message ?? '')}`,
    ...(eventId === undefined ? [] : [`event ${shownId(String(eventId), width)}`]),
    ...(requestId === undefined ? [] : [`request ${shownId(String(requestId), width)}`]),
  ].join('  ');
}

/** The answer's JSON; where it is none, its text. */
export function parsedAnswer(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
