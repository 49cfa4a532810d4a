import { MAX_FUNCTION_SECONDS } from '../../../lambda/limits.ts';
import { duration } from '../../terminal/text.ts';
import type {
  DeliveryState,
  Discarded,
  History,
  HistoryLocation,
  HistoryStep,
  MessageOrigin,
  SkipReason,
  StepKind,
} from './history.ts';

/** What a step or a state means for a person. `good`: done. `warning`: needs time. `bad`: needs a person. */
export type Tone = 'good' | 'warning' | 'bad' | 'neutral';

/** The title is one or two words. The detail is a sentence, or values separated by commas. */
interface Words {
  readonly title: string;
  readonly detail: string;
  readonly tone: Tone;
}

/** The current time, and how times are displayed. */
export interface Clock {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Formats an ISO time to the second, such as `13:06:47`. */
  readonly time: (iso: string) => string;
}

/** Maximum length of a log line's message as a title. A longer one moves to the detail. */
const LONGEST_TITLE = 16;

/**
 * Milliseconds after which a due attempt should have left a line. Lines can be searched only some time after they are
 * written: five minutes are enough.
 */
const OVERDUE = (MAX_FUNCTION_SECONDS + 5 * 60) * 1000;

const SKIPS: Readonly<Record<SkipReason, string>> = {
  'already-processed': 'this event was processed before',
  'newer-data': 'newer data was already stored',
  'up-to-date': 'the stored data is up to date',
  'answer-lost': 'an earlier attempt did it, and did not get its answer',
};

const STEPS: Readonly<Record<StepKind, (step: HistoryStep, history: History, clock: Clock) => Words>> = {
  received: (step, history) => ({
    title: 'received',
    detail: joined(', ', [
      `${history.steps.find(({ kind }) => kind === 'received')?.at === step.at ? '' : 'again, as '}request ${step.requestId}`,
      step.atTheLatest && 'at this time or before',
      step.lagMs !== undefined && `${span(step.lagMs)} after the partner’s timestamp`,
    ]),
    tone: 'neutral',
  }),
  queued: ({ queue = '' }) => ({
    title: 'queued',
    detail: queue === 'quarantine' ? 'in quarantine' : `on the ${queueText(queue)}`,
    tone: 'neutral',
  }),
  answered: (step, history) => ({
    title: 'answered',
    detail: answerDetail(step, history),
    tone: step.status === 200 ? 'good' : step.status === 400 ? 'warning' : 'bad',
  }),
  failed: (step, _history, clock) => ({
    title: 'failed',
    detail: joined('; ', [
      `${attemptText(step)}: ${withoutStop(step.error)}`,
      step.nextAttemptAt !== undefined &&
        `retry scheduled for ${clock.time(step.nextAttemptAt)}, ${span(Date.parse(step.nextAttemptAt) - Date.parse(step.until ?? step.at))} later`,
    ]),
    tone: 'warning',
  }),
  crashed: (step) => ({
    title: 'crashed',
    detail: `${attemptText(step)}: ${lower(crashText(step.error))}`,
    tone: 'warning',
  }),
  processed: (step) => ({ title: 'processed', detail: doneText(step), tone: 'good' }),
  skipped: (step) => ({ title: 'skipped', detail: doneText(step), tone: 'good' }),
  'dead-lettered': (step) => ({
    title: 'dead letter',
    detail:
      step.error === undefined
        ? 'SQS moved it to the dead-letter queue: its last attempt ended without a log line'
        : `${attemptText(step)}: ${withoutStop(step.error)}`,
    tone: 'bad',
  }),
  archived: ({ object = '', forgottenAt }) => ({
    title: 'archived',
    detail: joined('; ', [
      `in ${/date=[^/]+\/hour=[^/]+/.exec(object)?.[0] ?? object}`,
      forgottenAt !== undefined && `its payload was deleted on ${forgottenAt}`,
    ]),
    tone: 'neutral',
  }),
  discarded: ({ discarded }) => ({ title: 'discarded', detail: discardText(discarded), tone: 'neutral' }),
  noted: ({ message = '', level = '', error }) => {
    const isLong = message.length > LONGEST_TITLE;
    return {
      title: isLong ? level.toLowerCase() : message,
      detail: joined(': ', [isLong && message, error]),
      tone: level === 'ERROR' ? 'bad' : 'warning',
    };
  },
};

const STATES: Readonly<
  Record<
    DeliveryState,
    Omit<Words, 'detail'> & { readonly detail: (location: HistoryLocation, clock: Clock) => string }
  >
> = {
  received: { title: 'Received', detail: () => 'The receiver has not answered yet.', tone: 'warning' },
  refused: {
    title: 'Gateway error',
    detail: ({ status, error }) =>
      `API Gateway answered ${status} itself: ${sentence(error)} The receiver was not called.`,
    tone: 'bad',
  },
  rejected: { title: 'Bad signature', detail: notStoredText, tone: 'bad' },
  failed: { title: 'Server error', detail: notStoredText, tone: 'bad' },
  invalid: {
    title: 'Invalid',
    detail: (location, clock) =>
      joined(' ', [
        location.error && `The answer was 400: ${sentence(lower(location.error))}`,
        waitingText('in quarantine', location, clock),
      ]),
    tone: 'bad',
  },
  parked: {
    title: 'Parked',
    detail: (location, clock) =>
      `No consumer handles this event. ${waitingText('on the unrouted queue', location, clock)}`,
    tone: 'bad',
  },
  queued: {
    title: 'Queued',
    detail: (location, clock) =>
      joined(' ', [
        `It has waited on the ${queueText(location.queue)} for ${span(clock.now - Date.parse(location.since))}.`,
        overdueText(location.since, clock),
      ]),
    tone: 'warning',
  },
  retrying: {
    title: 'Retrying',
    detail: (location, clock) => joined(' ', [failedText(location), nextAttemptText(location, clock)]),
    tone: 'warning',
  },
  paused: {
    title: 'Paused',
    detail: (location, clock) =>
      joined(' ', [
        pauseText(location, clock),
        'It waits on the queue until the event is resumed.',
        (location.attempts ?? 0) > 0 && failedText(location),
      ]),
    tone: 'warning',
  },
  'dead-letter': {
    title: 'Dead letter',
    detail: (location, clock) =>
      joined(' ', [
        sentence(location.error),
        waitingText(`on the dead-letter queue of ${location.queue}`, location, clock),
      ]),
    tone: 'bad',
  },
  processed: {
    title: 'Processed',
    detail: ({ since, reason }, clock) =>
      `Finished at ${clock.time(since)}${reason === undefined ? '' : `: ${SKIPS[reason]}`}.`,
    tone: 'good',
  },
  skipped: {
    title: 'Skipped',
    detail: ({ reason }) => sentence(capital(reason === undefined ? 'nothing had to change' : SKIPS[reason])),
    tone: 'good',
  },
  removed: {
    title: 'Removed',
    detail: ({ since, queue = '', again, discarded }, clock) => {
      const what =
        discarded === undefined
          ? 'It was redriven or deleted'
          : capital(`discarded ${discardText(discarded)}`);
      const then = again === undefined ? '' : ` The same bytes came again as request ${again}.`;
      return `${sentence(what)} It was not on the ${setAsideText(queue)} at ${clock.time(since)}.${then}`;
    },
    tone: 'neutral',
  },
  unknown: {
    title: 'Unknown',
    detail: () => 'Neither the logs nor the archive say where it is.',
    tone: 'warning',
  },
};

export const stepWords = (step: HistoryStep, history: History, clock: Clock): Words =>
  STEPS[step.kind](step, history, clock);

export function stateWords(location: HistoryLocation, clock: Clock): Words {
  const { title, detail, tone } = STATES[location.state];
  const isOfReplay =
    location.replay !== undefined && location.state !== 'processed' && location.state !== 'skipped';
  return {
    title,
    tone,
    detail: `${isOfReplay ? `Replay ${location.replay}: ` : ''}${detail(location, clock)}`,
  };
}

export const stateTitle = (state: DeliveryState): Pick<Words, 'title' | 'tone'> => STATES[state];

export const skipText = (reason: SkipReason): string => capital(SKIPS[reason]);

function notStoredText({ status, error }: HistoryLocation): string {
  return `The answer was ${status}: ${sentence(error)} Nothing was stored. The partner sends it again.`;
}

/** `queue of shop.updated`, `unrouted queue`. */
const queueText = (queue = '') =>
  queue === 'unrouted' || queue === 'quarantine' ? `${queue} queue` : `queue of ${queue}`;

/** The queue on which messages of this name wait for a person: `dead-letter queue of shop.updated`. */
const setAsideText = (queue: string) => queueText(queue).replace(/^queue of/, 'dead-letter queue of');

const discardText = ({ by, reason }: Discarded = { by: 'somebody', reason: '' }) =>
  `by ${callerName(by)}: ${reason}`;

/** @returns undefined if an attempt may still be on its way */
const overdueText = (since: string, { now }: Clock) =>
  now - Date.parse(since) > OVERDUE &&
  'No attempt since then is known: the consumer crashes, is throttled, or is behind.';

/**
 * The number of failed attempts and the error. Empty if no failed attempt is known and a later attempt has started: the
 * known log may begin with that attempt.
 */
const failedText = ({ attempts, error, startedAt }: HistoryLocation) =>
  (error !== undefined || startedAt === undefined) &&
  `${attempts === 1 ? '1 attempt' : `${attempts} attempts`} failed: ${sentence(error)}`;

function nextAttemptText(
  { attempts = 0, startedAt, nextAttemptAt, since }: HistoryLocation,
  clock: Clock,
): string {
  if (startedAt !== undefined) {
    const isOver = overdueText(startedAt, clock) && 'The function crashed or timed out, without a log line.';
    return joined(' ', [`Attempt ${attempts + 1} started at ${clock.time(startedAt)}.`, isOver]);
  }
  if (nextAttemptAt === undefined) {
    const next = 'It will be retried after the queue’s visibility timeout.';
    return joined(' ', [next, overdueText(since, clock)]);
  }
  const left = Date.parse(nextAttemptAt) - clock.now;
  if (left > 0) return `Next attempt in ${span(left)}, at ${clock.time(nextAttemptAt)}.`;
  const due = `Retry scheduled for ${clock.time(nextAttemptAt)}.`;
  return joined(' ', [due, overdueText(nextAttemptAt, clock)]);
}

function pauseText({ queue, paused = {} }: HistoryLocation, clock: Clock): string {
  const { by, reason, since } = paused;
  const facts = joined(' ', [
    since !== undefined && `${span(clock.now - Date.parse(since))} ago`,
    by !== undefined && `by ${callerName(by)}`,
  ]);
  const why = reason === undefined ? '.' : `: ${sentence(reason)}`;
  return `${queue ?? 'The event'} was paused${facts === '' ? '' : ` ${facts}`}${why}`;
}

/** A user or role by the last part of its ARN: `mara` for `arn:aws:sts::123456789012:assumed-role/Operator/mara`. */
export const callerName = (arn: string) => arn.split('/').at(-1) || arn;

function waitingText(where: string, { until }: HistoryLocation, { now }: Clock): string {
  if (until === undefined) return `It is ${where}.`;
  const left = Date.parse(until) - now;
  return left > 0
    ? `It is ${where}. SQS deletes it in ${span(left)}.`
    : `It was ${where} until ${until}, when SQS deleted it.`;
}

function answerDetail(step: HistoryStep, { steps }: History): string {
  const { status, requestId, fields, rejection, sourceIp, error } = step;
  if (status === 200) {
    const isParked = steps.some((one) => one.queue === 'unrouted' && one.requestId === requestId);
    return isParked ? '200 parked' : '200 queued';
  }
  if (status === 400) return `400 invalid: ${fields?.join(', ') ?? error ?? 'not an event'}`;
  if (status === 401) return joined(', ', [`401 ${rejection ?? 'rejected'}`, sourceIp && `from ${sourceIp}`]);
  return `${status}: ${withoutStop(error)}`;
}

function attemptText({ attempt = 1, attempts = 1, origin }: HistoryStep): string {
  const last = attempt + attempts - 1;
  const number = attempts === 1 ? `attempt ${attempt}` : `attempts ${attempt}–${last}`;
  return `${number}${origin === undefined ? '' : originText(origin)}`;
}

const ORIGINS = {
  delivery: '',
  redriven: ' (redriven)',
  repeated: ' (queued twice)',
  'by hand': ' (sent by hand)',
} as const;

function originText(origin: MessageOrigin): string {
  if (origin.kind !== 'replay') return ORIGINS[origin.kind];
  return ` (${joined(', ', [`replay ${origin.name}`, origin.mode, origin.notify && 'notifies'])})`;
}

/** @param error Lambda's name of the error, if known */
export function crashText(error: string | undefined): string {
  if (error === undefined) return 'The function crashed, timed out, or was throttled, without a log line';
  return error.includes('Timedout') ? 'The function timed out' : `The function crashed (${error})`;
}

const doneText = ({ reason, latencyMs, ...step }: HistoryStep) =>
  joined(', ', [
    attemptText(step),
    reason && SKIPS[reason],
    latencyMs !== undefined && `${span(latencyMs)} after receipt`,
  ]);

const joined = (separator: string, parts: readonly (string | false | undefined)[]) =>
  parts.filter((part) => part !== undefined && part !== false && part !== '').join(separator);

const withoutStop = (text = 'Error') => text.replace(/\.$/, '');

const sentence = (text = 'Error') => (/[.!?]$/.test(text) ? text : `${text}.`);

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const lower = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** `12 ms`, `2 h 5 min`. */
const span = (milliseconds: number) =>
  milliseconds < 1000 ? `${Math.max(0, Math.round(milliseconds))} ms` : duration(milliseconds);
