import { duration } from '../../terminal/text.ts';
import type { Answered, Origin, Received, Step } from './timeline.ts';

/** What happened, in a word or two. */
export function wordOf(step: Step): string {
  switch (step.what) {
    case 'effect':
      return step.outcome.toLowerCase();
    case 'dead-lettered':
      return 'dead letter';
    case 'unseen':
      return 'no line';
    case 'noted':
      return step.message.length <= LONGEST_WORD ? step.message : step.level.toLowerCase();
    default:
      return step.what;
  }
}

/** Characters of a line's message that stand for what happened; a longer one is said with the facts. */
const LONGEST_WORD = 16;

/** What else there is to say of a step. @param steps all of the timeline */
export function factsOf(step: Step, steps: readonly Step[]): string {
  switch (step.what) {
    case 'received':
      return receivedText(step, steps);
    case 'queued':
      return step.queue === 'quarantine' ? 'in quarantine' : `on the ${queueText(step.queue)}`;
    case 'answered':
      return answeredText(step, steps);
    case 'failed':
      return `${attemptText(step)}: ${step.error.replace(/\.$/, '')}; next at ${clock(step.nextAttemptAt)}, after ${duration(step.retryInSeconds * 1000)}`;
    case 'unseen':
      return `${unseenText(step.attempt, step.attempts)}${originText(step.origin)}: the function died, or ran out of time`;
    case 'effect': {
      const meaning = MEANINGS[step.outcome];
      const latency = step.latencyMs === undefined ? [] : [`${milliseconds(step.latencyMs)} after receipt`];
      return [attemptText(step), ...meaning, ...latency].join(', ');
    }
    case 'dead-lettered':
      return `${attemptText(step)}: ${step.error}`;
    case 'archived': {
      const partition = /date=[^/]+\/hour=[^/]+/.exec(step.object)?.[0] ?? step.object;
      const forgotten =
        step.forgottenAt === undefined ? '' : `; its body was forgotten on ${step.forgottenAt}`;
      return `in ${partition}${forgotten}`;
    }
    case 'noted':
      return [step.message.length > LONGEST_WORD ? step.message : undefined, step.error]
        .filter((part) => part !== undefined)
        .join(': ');
  }
}

const MEANINGS = {
  Processed: [],
  Stale: ['a newer event had been there'],
  Duplicate: ['people had been told'],
} as const;

/** `queue of shop.updated`, `unrouted queue`. */
export const queueText = (queue: string) =>
  queue === 'unrouted' || queue === 'quarantine' ? `${queue} queue` : `queue of ${queue}`;

function receivedText({ requestId, exact, lagMs, smokeTest, at }: Received, steps: readonly Step[]): string {
  const isFirst = steps.find(({ what }) => what === 'received')?.at === at;
  return [
    isFirst ? `request ${requestId}` : `again, as request ${requestId}`,
    exact ? undefined : 'at the latest',
    lagMs === undefined ? undefined : `${milliseconds(lagMs)} after the partner’s timestamp`,
    smokeTest ? 'a deployment’s smoke test' : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function answeredText(
  { status, requestId, fields, reason, sourceIp, error }: Answered,
  steps: readonly Step[],
) {
  switch (status) {
    case 200: {
      const isParked = steps.some(
        (step) => step.what === 'queued' && step.requestId === requestId && step.queue === 'unrouted',
      );
      return isParked ? '200 parked' : '200 queued';
    }
    case 400:
      return `400 unusable: ${fields?.join(', ') ?? 'not an event'}`;
    case 401:
      return `401 ${reason?.replace('-', ' ') ?? 'rejected'}${sourceIp === undefined ? '' : `, from ${sourceIp}`}`;
    case 500:
      return `500 not safe: ${error ?? 'Error'}`;
  }
}

const attemptText = ({ attempt, origin }: { attempt: number; origin: Origin }) =>
  `attempt ${attempt}${originText(origin)}`;

function originText(origin: Origin): string {
  switch (origin.kind) {
    case 'delivery':
      return '';
    case 'redriven':
      return ' (redriven)';
    case 'repeated':
      return ' (queued twice)';
    case 'by hand':
      return ' (sent by hand)';
    case 'replay': {
      const facts = [origin.mode, origin.notify ? 'notifying' : undefined].filter(Boolean);
      return ` (${[`replay ${origin.name}`, ...facts].join(', ')})`;
    }
  }
}

function unseenText(first: number, count: number): string {
  if (count === 1) return `attempt ${first}`;
  return `attempts ${first} ${count === 2 ? 'and' : 'to'} ${first + count - 1}`;
}

const milliseconds = (number: number) => (number < 1000 ? `${number} ms` : duration(number));

/** Of a time in UTC, to the second. */
export const clock = (time: string) => time.slice(11, 19);
