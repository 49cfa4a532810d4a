import type { Message } from './messages.ts';
import { queueOf, type Request } from './requests.ts';
import type { Whereabouts } from './timeline.ts';

/**
 * Milliseconds after which an attempt that is due should have left a line: a batch takes its function's 900 s at most,
 * and lines are searchable some time after they are written.
 */
const OVERDUE = 20 * 60 * 1000;

/** Where an event is, by what its log lines and records say. @param now epoch milliseconds */
export function whereabouts(
  event: string | undefined,
  requests: readonly Request[],
  messages: readonly Message[],
  now: number,
): readonly [Whereabouts, ...Whereabouts[]] {
  const open = [
    ...requests.flatMap((request) => ofRequest(request, requests, messages, now)),
    ...messages.flatMap((message) => ofMessage(event, message, messages, now)),
  ];
  const [first, ...others] = open;
  if (first !== undefined) return [first, ...others];
  return [done(messages) ?? { state: 'unknown' }];
}

/** Where what a request brought is, as long as no message of a consumer's is known of it. */
function ofRequest(
  { requestId, end }: Request,
  requests: readonly Request[],
  messages: readonly Message[],
  now: number,
): Whereabouts[] {
  if (end === undefined || messages.some((message) => message.requestId === requestId)) return [];
  const since = new Date(end.at).toISOString();
  const later = requests.filter((other) => other.end !== undefined && other.end.at > end.at);
  const queue = queueOf(end);
  switch (end.message) {
    case 'Accepted':
      return [{ state: now - end.at > OVERDUE ? 'overdue' : 'waiting', queue: queue ?? '', since }];
    case 'Parked':
      return [{ state: 'parked', queue: queue ?? '', since }];
    case 'Unusable':
      // A redrive of quarantine delivers the bytes again.
      return later.length > 0 ? [] : [{ state: 'quarantined', queue: queue ?? '', since }];
    default: {
      // The partner repeats it, and what was accepted once is accepted.
      const others = requests.filter((other) => other.requestId !== requestId && isAccepted(other));
      if (later.length > 0 || others.length > 0 || messages.length > 0) return [];
      return [{ state: 'not accepted', status: end.message === 'Rejected' ? 401 : 500, since }];
    }
  }
}

const isAccepted = ({ end }: Request) => end !== undefined && queueOf(end) !== undefined;

/** Where a message is that is not done. */
function ofMessage(event = '', message: Message, messages: readonly Message[], now: number): Whereabouts[] {
  const last = message.works.at(-1);
  if (last === undefined) return [];
  const later = messages.slice(messages.indexOf(message) + 1);
  const isRedriven = later.some(
    ({ origin, requestId }) => origin.kind === 'redriven' && requestId === message.requestId,
  );
  const since = new Date(last.at).toISOString();
  if (last.kind === 'dead-lettered' && !message.buryFailed) {
    return isRedriven ? [] : [{ state: 'dead letter', queue: event, since }];
  }
  if (last.kind === 'failed' || last.kind === 'dead-lettered') {
    if (isRedriven) return [];
    const next = last.at + (last.retryInSeconds ?? 0) * 1000;
    const state = now > next + OVERDUE ? 'overdue' : 'backing off';
    return [{ state, queue: event, since, nextAttemptAt: new Date(next).toISOString() }];
  }
  return [];
}

function done(messages: readonly Message[]): Whereabouts | undefined {
  const ends = messages.flatMap(({ works }) => works).toSorted((a, b) => a.at - b.at);
  for (const { kind, at } of ends.reverse()) {
    if (kind !== 'failed' && kind !== 'dead-lettered') {
      return { state: 'done', outcome: kind, since: new Date(at).toISOString() };
    }
  }
  return undefined;
}
