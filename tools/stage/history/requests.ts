import { ACCEPTED, IGNORED, PARKED, REJECTED, SERVER_ERROR, UNUSABLE } from '../../../lambda/log-messages.ts';
import { type ExchangeFact, type Fact, ofKind } from './facts.ts';
import type { LineFact } from './log-line.ts';

/** Log messages that end a request, and the status that the receiver then answers with. */
const ANSWERS: Readonly<Record<string, number>> = {
  [ACCEPTED]: 200,
  [PARKED]: 200,
  [IGNORED]: 200,
  [UNUSABLE]: 400,
  [REJECTED]: 401,
  [SERVER_ERROR]: 500,
};

export interface HistoryRequest {
  readonly requestId: string;
  readonly exchange: ExchangeFact | undefined;
  readonly end: LineFact | undefined;
  readonly status: number;
  /**
   * Where the receiver put the payload: an event's queue, `unrouted` or `quarantine`. Undefined if it stored nothing.
   */
  readonly queue: string | undefined;
  /** When the request was answered. Epoch milliseconds. */
  readonly at: number;
}

export const isAnswer = ({ message, messageId }: LineFact) =>
  messageId === undefined && Object.hasOwn(ANSWERS, message);

export function requestsOf(facts: readonly Fact[], lines: readonly LineFact[]): HistoryRequest[] {
  const ends = new Map(lines.filter(isAnswer).map((line) => [line.requestId, line]));
  const exchanges = new Map(ofKind(facts, 'exchange').map((fact) => [fact.requestId, fact]));
  // SQS may have stored it although the receiver did not get the answer of SQS.
  const stored = new Map(ofKind(facts, 'dead-letter').map(({ requestId, queue }) => [requestId, queue]));
  const ids = new Set([...exchanges.keys(), ...ends.keys()].filter((id) => id !== undefined));
  return [...ids]
    .map((requestId) => {
      const [end, exchange] = [ends.get(requestId), exchanges.get(requestId)];
      const status = exchange?.status ?? ANSWERS[end?.message ?? ''] ?? 0;
      const at = end?.at ?? Math.round((exchange?.at ?? 0) + (exchange?.durationMs ?? 0));
      const queue = storedOn(end, exchange) ?? stored.get(requestId);
      return { requestId, exchange, end, status, queue, at };
    })
    .sort((a, b) => a.at - b.at || (a.requestId < b.requestId ? -1 : 1));
}

function storedOn(end: LineFact | undefined, exchange: ExchangeFact | undefined): string | undefined {
  if (end?.message === ACCEPTED) return end.event;
  if (end?.message === PARKED) return 'unrouted';
  if (end?.message === UNUSABLE) return 'quarantine';
  if (end !== undefined || exchange?.byReceiver !== true) return undefined;
  if (exchange.status === 400) return 'quarantine';
  if (exchange.status !== 200) return undefined;
  return exchange.parked ? 'unrouted' : exchange.event;
}
