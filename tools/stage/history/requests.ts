import { ACCEPTED, IGNORED, PARKED, REJECTED, SERVER_ERROR, UNUSABLE } from '../../../lambda/log-messages.ts';
import { type ExchangeFact, type Fact, type LineFact, ofKind } from './facts.ts';

/** Log messages that end a request: what the receiver then answers, and the queue if it is not that of an event. */
const ANSWERS: Readonly<Record<string, readonly [status: number, queue?: string]>> = {
  [ACCEPTED]: [200],
  [PARKED]: [200, 'unrouted'],
  [IGNORED]: [200],
  [UNUSABLE]: [400, 'quarantine'],
  [REJECTED]: [401],
  [SERVER_ERROR]: [500],
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
      const [answer = 0, aside] = ANSWERS[end?.message ?? ''] ?? [];
      const status = exchange?.status ?? answer;
      const at = end?.at ?? Math.round((exchange?.at ?? 0) + (exchange?.durationMs ?? 0));
      const queue = (end?.message === ACCEPTED ? end.event : aside) ?? stored.get(requestId);
      return { requestId, exchange, end, status, queue, at };
    })
    .sort((a, b) => a.at - b.at || (a.requestId < b.requestId ? -1 : 1));
}
