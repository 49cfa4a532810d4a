import type { EffectOutcome } from '../../lambda/effects/outcome.ts';
import { SMOKE_TEST_PREFIX } from '../../lambda/smoke-test/request-id.ts';
import { type FoundRecord, type Message, messagesOf, type Work } from '../stage/history/messages.ts';
import { answerOf, requestsOf } from '../stage/history/requests.ts';
import type { Whereabouts } from '../stage/history/timeline.ts';
import { whereabouts } from '../stage/history/whereabouts.ts';
import type { Delivery, DeliveryState } from './api.ts';
import type { DeliveryFacts } from './delivery-facts.ts';

/** Of several places where what a request brought is, the first of these is told. */
const WORST_FIRST: readonly DeliveryState[] = ['dead', 'retrying', 'queued', 'parked', 'unusable'];

const DONE: Readonly<Record<EffectOutcome, DeliveryState>> = {
  Processed: 'processed',
  Stale: 'stale',
  Duplicate: 'duplicate',
};

/** The row of a delivery: what `npm run trace` would say of it in a word. Pure. */
export function rowOf(facts: DeliveryFacts): Delivery {
  const { id, exchange, lines } = facts;
  // Which object of the archive has it makes no difference here.
  const records = facts.records.map((record): FoundRecord => ({ record, object: '' }));
  const requests = requestsOf(lines);
  const messages = messagesOf(lines, requests, records);
  const works = messages.flatMap((message) => message.works).toSorted((a, b) => a.at - b.at);
  const newest = facts.records.at(-1);
  const end = requests.find(({ requestId }) => requestId === id)?.end;

  const event = newest?.event ?? lines.find((line) => line.event !== undefined)?.event ?? exchange?.event;
  const eventId = newest?.eventId ?? lines[0]?.eventId ?? exchange?.eventId;
  const shopId = facts.records.find((record) => record.shopId !== undefined)?.shopId ?? exchange?.shopId;
  const state = stateOf(facts, whereabouts(event, requests, messages, 0), works);
  const status =
    exchange?.status ?? (end && answerOf(id, end).status) ?? (works.length > 0 ? 200 : undefined);
  const error = errorOf(state, facts, works);
  const latencyMs = latencyOf(facts, works);
  return {
    id,
    ...(eventId !== undefined && { eventId }),
    ...(event !== undefined && { event }),
    ...(shopId !== undefined && { shopId }),
    receivedAt: new Date(receiptOf(facts, works)).toISOString(),
    state,
    ...(status !== undefined && { status }),
    attempts: messages.reduce((sum, message) => sum + attemptsOf(message), 0),
    ...(error !== undefined && { error }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...(exchange?.bytes !== undefined && { bytes: exchange.bytes }),
    ...(id.startsWith(SMOKE_TEST_PREFIX) && { smokeTest: true }),
  };
}

const attemptsOf = ({ works }: Message) => Math.max(...works.map(({ attempt }) => attempt));

function stateOf(
  facts: DeliveryFacts,
  places: readonly Whereabouts[],
  works: readonly Work[],
): DeliveryState {
  const states = places.flatMap((place) => stateOfPlace(place) ?? []);
  const state = WORST_FIRST.find((word) => states.includes(word)) ?? states[0];
  if (state === undefined) return stateOfExchange(facts);
  const isRedriven = (facts.redrivenAt ?? 0) >= (works.at(-1)?.at ?? 0);
  return state === 'dead' && isRedriven ? 'queued' : state;
}

function stateOfPlace(place: Whereabouts): DeliveryState | undefined {
  switch (place.state) {
    case 'done':
      return DONE[place.outcome];
    case 'dead letter':
      return 'dead';
    case 'backing off':
      return 'retrying';
    case 'waiting':
      return 'queued';
    case 'overdue':
      return place.nextAttemptAt === undefined ? 'queued' : 'retrying';
    case 'parked':
      return 'parked';
    case 'quarantined':
      return 'unusable';
    case 'not accepted':
      return place.status === 401 ? 'rejected' : 'failed';
    case 'unknown':
      return undefined;
  }
}

const OF_STATUS: Readonly<Record<number, DeliveryState>> = {
  400: 'unusable',
  401: 'rejected',
  500: 'failed',
};

/** Before any line is known that says more. */
function stateOfExchange({ exchange, redrivenAt }: DeliveryFacts): DeliveryState {
  if (exchange === undefined) return redrivenAt === undefined ? 'received' : 'queued';
  if (exchange.status === 200) return exchange.accepted === 'parked' ? 'parked' : 'queued';
  // A function that fails without an answer is a 500, whoever says so.
  if (!exchange.byReceiver && exchange.status !== 500) return 'refused';
  return OF_STATUS[exchange.status] ?? 'refused';
}

/** Epoch milliseconds: by API Gateway's clock where it is known, else as near as can be. */
function receiptOf(
  { exchange, records, lines, redrivenAt = 0 }: DeliveryFacts,
  works: readonly Work[],
): number {
  if (exchange !== undefined) return exchange.receivedAt;
  const [record] = records;
  if (record !== undefined) return Date.parse(record.receivedAt);
  const timed = works.find(({ latencyMs = 0 }) => latencyMs > 0);
  return timed === undefined ? (lines[0]?.at ?? redrivenAt) : timed.at - (timed.latencyMs ?? 0);
}

function latencyOf({ records }: DeliveryFacts, works: readonly Work[]): number | undefined {
  const timed = works.find(({ latencyMs }) => latencyMs !== undefined);
  if (timed !== undefined) return timed.latencyMs;
  const record = records.find(({ outcome, replay }) => outcome !== 'DeadLettered' && replay === undefined);
  return record && Math.max(0, Date.parse(record.settledAt) - Date.parse(record.receivedAt));
}

function errorOf(
  state: DeliveryState,
  { exchange, lines }: DeliveryFacts,
  works: readonly Work[],
): string | undefined {
  switch (state) {
    case 'queued':
    case 'retrying':
    case 'dead':
      return works.findLast(({ error }) => error !== undefined)?.error;
    case 'refused':
    case 'rejected':
    case 'unusable':
    case 'failed':
      return answerText(lines) ?? exchange?.error;
    default:
      return undefined;
  }
}

/** What the receiver's log says of its answer. */
function answerText(lines: DeliveryFacts['lines']): string | undefined {
  const [request] = requestsOf(lines);
  if (request?.end === undefined) return undefined;
  const { fields, reason, error } = answerOf(request.requestId, request.end);
  if (fields !== undefined && fields.length > 0) return `Unusable: ${fields.join(', ')}`;
  return reason ?? error;
}
