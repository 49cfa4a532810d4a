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

/**
 * What a step or a state means for a person. `good`: done. `warning`: it is not done, but needs nobody now. `bad`: needs a
 * person.
 */
export type Tone = 'good' | 'warning' | 'bad' | 'neutral';

/** The title is one or two words. The detail is a sentence, or values separated by commas. */
interface Words {
  readonly title: string;
  readonly tone: Tone;
  readonly detail: string;
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
  'ignored-kind': 'the stage ignores this kind of event',
  'answer-lost': 'an earlier attempt did it, and did not get its answer',
};

type StepText = readonly [
  title: string,
  tone: Tone,
  detail: (step: HistoryStep, history: History, clock: Clock) => string,
];

const STEPS: Readonly<Record<StepKind, StepText>> = {
  received: ['received', 'neutral', receivedText],
  queued: [
    'queued',
    'neutral',
    ({ queue }) => (queue === 'quarantine' ? 'in quarantine' : `on ${queueText(queue)}`),
  ],
  answered: ['answered', 'warning', answerText],
  failed: ['failed', 'warning', failedStepText],
  crashed: ['crashed', 'warning', (step) => `${attemptText(step)}: ${lower(crashText(step.error))}`],
  processed: ['processed', 'good', doneText],
  skipped: ['skipped', 'good', doneText],
  'dead-lettered': ['dead letter', 'bad', deadLetterText],
  archived: ['archived', 'neutral', archivedText],
  discarded: ['discarded', 'neutral', ({ discarded }) => discardText(discarded)],
  noted: ['', 'warning', ({ message, error }) => joined(': ', isLong(message) && message, error)],
};

export function stepWords(step: HistoryStep, history: History, clock: Clock): Words {
  const { kind, status = 0, level = '', message = '' } = step;
  const [title, tone, detailOf] = STEPS[kind];
  const detail = detailOf(step, history, clock);
  if (kind === 'answered') return { title, tone: ANSWER_TONES[status] ?? tone, detail };
  if (kind !== 'noted') return { title, tone, detail };
  const noted = isLong(message) ? level.toLowerCase() : codeText(message);
  return { title: noted, tone: level === 'ERROR' ? 'bad' : tone, detail };
}

const ANSWER_TONES: Readonly<Record<number, Tone>> = { 200: 'good', 400: 'bad' };

type StateText = readonly [
  title: string,
  tone: Tone,
  detail: (location: HistoryLocation, clock: Clock) => string,
];

const STATES: Readonly<Record<DeliveryState, StateText>> = {
  received: ['Received', 'warning', () => 'The receiver has not answered yet.'],
  refused: ['Gateway error', 'warning', refusedText],
  rejected: ['Bad signature', 'warning', notStoredText],
  failed: ['Server error', 'warning', notStoredText],
  invalid: ['Invalid', 'bad', invalidText],
  parked: [
    'Parked',
    'bad',
    (location, clock) =>
      joined(' ', 'No consumer handles this event.', waitingText('on the unrouted queue', location, clock)),
  ],
  queued: ['Queued', 'warning', queuedText],
  retrying: [
    'Retrying',
    'warning',
    (location, clock) => joined(' ', failedText(location), nextAttemptText(location, clock)),
  ],
  paused: ['Paused', 'warning', pausedText],
  'dead-letter': [
    'Dead letter',
    'bad',
    (location, clock) =>
      joined(
        ' ',
        sentence(location.error),
        waitingText(`on ${setAsideText(location.queue)}`, location, clock),
      ),
  ],
  processed: [
    'Processed',
    'good',
    ({ since, reason }, clock) =>
      sentence(joined(': ', `Finished at ${clock.time(since)}`, reason && SKIPS[reason])),
  ],
  skipped: [
    'Skipped',
    'good',
    ({ reason }) => sentence(reason === undefined ? 'Nothing had to change' : skipText(reason)),
  ],
  removed: ['Removed', 'neutral', removedText],
  unknown: ['Unknown', 'warning', () => 'Neither the logs nor the archive say where it is.'],
};

export function stateWords(location: HistoryLocation, clock: Clock): Words {
  const { state, replay } = location;
  const [title, tone, detailOf] = STATES[state];
  const isOfReplay = replay !== undefined && state !== 'processed' && state !== 'skipped';
  return { title, tone, detail: joined(': ', isOfReplay && `Replay ${replay}`, detailOf(location, clock)) };
}

export function stateTitle(state: DeliveryState): Pick<Words, 'title' | 'tone'> {
  const [title, tone] = STATES[state];
  return { title, tone };
}

export const skipText = (reason: SkipReason): string => capital(SKIPS[reason]);

// Details of steps.

function receivedText({ at, requestId, atTheLatest, lagMs }: HistoryStep, { steps }: History): string {
  const isFirst = steps.find(({ kind }) => kind === 'received')?.at === at;
  return joined(
    ', ',
    isFirst ? `request ${requestId}` : `again, as request ${requestId}`,
    atTheLatest && 'at this time or before',
    lagMs !== undefined && `${span(lagMs)} after the partner’s timestamp`,
  );
}

function answerText(step: HistoryStep, { steps }: History): string {
  const { status, requestId, fields, rejection, sourceIp, error } = step;
  if (status === 200) {
    if (step.reason === 'ignored-kind') return '200 ignored';
    const isParked = steps.some((one) => one.queue === 'unrouted' && one.requestId === requestId);
    return isParked ? '200 parked' : '200 queued';
  }
  if (status === 400) return `400 invalid: ${fields?.join(', ') ?? error ?? 'not an event'}`;
  if (status === 401) return joined(', ', `401 ${rejection ?? 'rejected'}`, sourceIp && `from ${sourceIp}`);
  return `${status}: ${withoutStop(error)}`;
}

function failedStepText(step: HistoryStep, _history: History, clock: Clock): string {
  const { at, until = at, nextAttemptAt, error } = step;
  const next =
    nextAttemptAt !== undefined &&
    `retry scheduled for ${clock.time(nextAttemptAt)}, ${span(Date.parse(nextAttemptAt) - Date.parse(until))} later`;
  return joined('; ', `${attemptText(step)}: ${withoutStop(error)}`, next);
}

function deadLetterText(step: HistoryStep): string {
  return step.error === undefined
    ? 'SQS moved it to the dead-letter queue: its last attempt ended without a log line'
    : `${attemptText(step)}: ${withoutStop(step.error)}`;
}

function doneText({ reason, latencyMs, ...step }: HistoryStep): string {
  const latency = latencyMs !== undefined && `${span(latencyMs)} after receipt`;
  return joined(', ', attemptText(step), reason && SKIPS[reason], latency);
}

function archivedText({ object = '', forgottenAt }: HistoryStep): string {
  const where = `in ${/date=[^/]+\/hour=[^/]+/.exec(object)?.[0] ?? object}`;
  return joined('; ', where, forgottenAt !== undefined && `its payload was deleted on ${forgottenAt}`);
}

function attemptText({ attempt = 1, attempts = 1, origin }: Omit<HistoryStep, 'reason'>): string {
  const number = attempts === 1 ? `attempt ${attempt}` : `attempts ${attempt}–${attempt + attempts - 1}`;
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
  return ` (${joined(', ', `replay ${origin.name}`, origin.mode, origin.notify && 'notifies')})`;
}

/** @param error Lambda's name of the error, if known */
export function crashText(error: string | undefined): string {
  if (error === undefined) return 'The function crashed, timed out, or was throttled, without a log line';
  return error.includes('Timedout') ? 'The function timed out' : `The function crashed (${error})`;
}

/** The words of a log code: `retry not delayed` for `RetryNotDelayed`. */
const codeText = (code: string) => code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

const isLong = (message = '') => message.length > LONGEST_TITLE;

// Details of states.

function refusedText({ status, error }: HistoryLocation): string {
  return `API Gateway answered ${status} itself: ${sentence(error)} The receiver was not called.`;
}

function notStoredText({ status, error }: HistoryLocation): string {
  return `The answer was ${status}: ${sentence(error)} Nothing was stored. The partner sends it again.`;
}

function invalidText(location: HistoryLocation, clock: Clock): string {
  const answer = location.error && `The answer was 400: ${sentence(lower(location.error))}`;
  return joined(' ', answer, waitingText('in quarantine', location, clock));
}

function queuedText({ queue, since }: HistoryLocation, clock: Clock): string {
  const waited = `It has waited on ${queueText(queue)} for ${span(clock.now - Date.parse(since))}.`;
  return joined(' ', waited, overdueText(since, clock));
}

function pausedText({ paused = {}, ...location }: HistoryLocation, clock: Clock): string {
  const { by, reason, since } = paused;
  const pause = joined(
    ' ',
    `${location.queue ?? 'The event'} was paused`,
    since !== undefined && `${span(clock.now - Date.parse(since))} ago`,
    by !== undefined && `by ${callerName(by)}`,
  );
  return joined(
    ' ',
    sentence(joined(': ', pause, reason)),
    'It waits on the queue until the event is resumed.',
    (location.attempts ?? 0) > 0 && failedText(location),
  );
}

function removedText({ since, queue, again, discarded }: HistoryLocation, clock: Clock): string {
  return joined(
    ' ',
    discarded === undefined ? 'It was redriven or deleted.' : sentence(`Discarded ${discardText(discarded)}`),
    `It was not on ${setAsideText(queue)} at ${clock.time(since)}.`,
    again !== undefined && `The same bytes came again as request ${again}.`,
  );
}

/** `the queue of shop.updated`, `the unrouted queue`. */
const queueText = (queue = '') =>
  queue === 'unrouted' || queue === 'quarantine' ? `the ${queue} queue` : `the queue of ${queue}`;

/** The queue on which messages of this name wait for a person: `the dead-letter queue of shop.updated`. */
const setAsideText = (queue: string | undefined) =>
  queueText(queue).replace(/^the queue/, 'the dead-letter queue');

const discardText = ({ by, reason }: Discarded = { by: 'somebody', reason: '' }) =>
  `by ${callerName(by)}: ${reason}`;

/** Empty if an attempt may still be on its way. */
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

function nextAttemptText(location: HistoryLocation, clock: Clock): string {
  const { attempts = 0, startedAt, nextAttemptAt, since } = location;
  if (startedAt !== undefined) {
    const isOver = overdueText(startedAt, clock) && 'The function crashed or timed out, without a log line.';
    return joined(' ', `Attempt ${attempts + 1} started at ${clock.time(startedAt)}.`, isOver);
  }
  if (nextAttemptAt === undefined) {
    const next = 'It will be retried after the queue’s visibility timeout.';
    return joined(' ', next, overdueText(since, clock));
  }
  const left = Date.parse(nextAttemptAt) - clock.now;
  if (left > 0) return `Next attempt in ${span(left)}, at ${clock.time(nextAttemptAt)}.`;
  return joined(' ', `Retry scheduled for ${clock.time(nextAttemptAt)}.`, overdueText(nextAttemptAt, clock));
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

const joined = (separator: string, ...parts: readonly (string | false | undefined)[]) =>
  parts.filter((part) => part !== undefined && part !== false && part !== '').join(separator);

const withoutStop = (text = 'Error') => text.replace(/\.$/, '');

const sentence = (text = 'Error') => (/[.!?]$/.test(text) ? text : `${text}.`);

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const lower = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** `12 ms`, `2 h 5 min`. */
const span = (milliseconds: number) =>
  milliseconds < 1000 ? `${Math.max(0, Math.round(milliseconds))} ms` : duration(milliseconds);
