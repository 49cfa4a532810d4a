import { MAX_FUNCTION_SECONDS } from '../../../lambda/limits.ts';
import { preciseDuration } from '../../terminal/text.ts';
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
 * What a step or a state means for a person. `good`: done. `warning`: something failed, or is stopped. `bad`: needs a
 * person. `neutral`: it needs nobody.
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

/** Parts of a text. Absent ones are left out. */
type Parts = readonly (string | false | undefined)[];

/** Title and tone of a step. The tone of an answer and of a log line depends on what it says. */
const STEPS: Readonly<Record<StepKind, readonly [title: string, tone: Tone]>> = {
  received: ['received', 'neutral'],
  queued: ['queued', 'neutral'],
  answered: ['answered', 'warning'],
  failed: ['failed', 'warning'],
  crashed: ['crashed', 'warning'],
  processed: ['processed', 'good'],
  skipped: ['skipped', 'good'],
  'dead-lettered': ['dead letter', 'bad'],
  archived: ['archived', 'neutral'],
  discarded: ['discarded', 'neutral'],
  noted: ['noted', 'warning'],
};

const ANSWER_TONES: Readonly<Record<number, Tone>> = { 200: 'good', 400: 'bad', 401: 'neutral' };

export function stepWords(step: HistoryStep, history: History, clock: Clock): Words {
  const { kind, status = 0, level } = step;
  const [title, usual] = STEPS[kind];
  const isError = kind === 'noted' && level === 'ERROR';
  const tone = isError ? 'bad' : ((kind === 'answered' ? ANSWER_TONES[status] : undefined) ?? usual);
  return { title, tone, detail: joined(', ', stepDetail(step, history, clock)) };
}

/** Time since the end of the previous step, such as `+12 ms`. Empty if it began before. */
export function gapText({ at }: HistoryStep, before: HistoryStep | undefined): string {
  const gap = before === undefined ? 0 : Date.parse(at) - Date.parse(before.until ?? before.at);
  return gap > 0 ? `+${preciseDuration(gap)}` : '';
}

function stepDetail(step: HistoryStep, { steps }: History, clock: Clock): Parts {
  const { at, until = at, requestId, queue, lagMs, latencyMs, error, reason, nextAttemptAt } = step;
  switch (step.kind) {
    case 'received': {
      const isFirst = steps.find(({ kind }) => kind === 'received')?.at === at;
      const lag = lagMs !== undefined && `${preciseDuration(lagMs)} after the partner’s timestamp`;
      return [`${isFirst ? '' : 'again, as '}request ${requestId}`, lag];
    }
    case 'queued':
      return [`on ${queueText(queue)}`];
    case 'answered':
      return answerText(step, steps);
    case 'failed': {
      const wait =
        nextAttemptAt !== undefined && preciseDuration(Date.parse(nextAttemptAt) - Date.parse(until));
      const next = wait && `retry scheduled for ${clock.time(nextAttemptAt ?? '')}, ${wait} later`;
      return [joined('; ', [`${attemptText(step)}: ${withoutStop(error)}`, next])];
    }
    case 'crashed':
      return [`${attemptText(step)}: ${crashText(error)}`];
    case 'processed':
    case 'skipped': {
      const latency = latencyMs !== undefined && `${preciseDuration(latencyMs)} after receipt`;
      return [attemptText(step), reason && SKIPS[reason], latency];
    }
    case 'dead-lettered':
      if (error !== undefined) return [`${attemptText(step)}: ${withoutStop(error)}`];
      return ['SQS moved it to the dead-letter queue: its last attempt ended without a log line'];
    case 'archived': {
      const { object = '', forgottenAt } = step;
      const where = /date=[^/]+\/hour=[^/]+/.exec(object)?.[0] ?? object;
      return [`in ${where}`, forgottenAt && `its payload was deleted on ${forgottenAt}`];
    }
    case 'discarded':
      return [discardText(step.discarded)];
    case 'noted':
      return [joined(': ', [codeText(step.message), error])];
  }
}

function answerText(step: HistoryStep, steps: readonly HistoryStep[]): Parts {
  const { status, requestId, fields, rejection = 'rejected', reason, sourceIp, error } = step;
  const isParked = steps.some((one) => one.queue === 'unrouted' && one.requestId === requestId);
  if (status === 200)
    return [`200 ${reason === 'ignored-kind' ? 'ignored' : isParked ? 'parked' : 'queued'}`];
  if (status === 400) return [`400 invalid: ${fields?.join(', ') ?? error ?? 'not an event'}`];
  if (status === 401) return [`401 ${rejection}`, sourceIp && `from ${sourceIp}`];
  return [`${status}: ${withoutStop(error)}`];
}

const ORIGINS: Readonly<Record<MessageOrigin['kind'], string>> = {
  delivery: '',
  redriven: 'redriven',
  repeated: 'queued twice',
  'by hand': 'sent by hand',
  replay: 'replay',
};

function attemptText({ attempt = 1, attempts = 1, origin }: HistoryStep): string {
  const number = attempts === 1 ? `attempt ${attempt}` : `attempts ${attempt}–${attempt + attempts - 1}`;
  const from = joined(' ', [ORIGINS[origin?.kind ?? 'delivery'], origin?.name]);
  return from === '' ? number : `${number} (${from})`;
}

/** The words of a log code: `retry not delayed` for `RetryNotDelayed`. */
const codeText = (code = '') => code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

const STATES: Readonly<Record<DeliveryState, Pick<Words, 'title' | 'tone'>>> = {
  received: { title: 'Received', tone: 'neutral' },
  refused: { title: 'Gateway error', tone: 'neutral' },
  rejected: { title: 'Bad signature', tone: 'neutral' },
  failed: { title: 'Server error', tone: 'warning' },
  invalid: { title: 'Invalid', tone: 'bad' },
  parked: { title: 'Parked', tone: 'bad' },
  queued: { title: 'Queued', tone: 'neutral' },
  retrying: { title: 'Retrying', tone: 'warning' },
  paused: { title: 'Paused', tone: 'warning' },
  'dead-letter': { title: 'Dead letter', tone: 'bad' },
  processed: { title: 'Processed', tone: 'good' },
  skipped: { title: 'Skipped', tone: 'good' },
  removed: { title: 'Removed', tone: 'neutral' },
  unknown: { title: 'Unknown', tone: 'warning' },
};

export const stateTitle = (state: DeliveryState) => STATES[state];

export function stateWords(location: HistoryLocation, clock: Clock): Words {
  const { state, replay } = location;
  const isOfReplay = replay !== undefined && state !== 'processed' && state !== 'skipped';
  const detail = joined(' ', stateDetail(location, clock));
  return { ...stateTitle(state), detail: isOfReplay ? `Replay ${replay}: ${detail}` : detail };
}

function stateDetail(location: HistoryLocation, clock: Clock): Parts {
  const { state, status, error, reason, queue, since, again, discarded, paused } = location;
  switch (state) {
    case 'received':
      return ['The receiver has not answered yet.'];
    case 'refused':
      return [`API Gateway answered ${status} itself: ${sentence(error)} The receiver was not called.`];
    case 'rejected':
    case 'failed':
      return [`The answer was ${status}: ${sentence(error)} Nothing was stored. The partner sends it again.`];
    case 'invalid':
      return [error && `The answer was ${status}: ${sentence(error)}`, waitingText(location, clock)];
    case 'parked':
      return ['No consumer handles this event.', waitingText(location, clock)];
    case 'queued':
      return [
        `It has waited on ${queueText(queue)} for ${ageText(since, clock)}.`,
        overdueText(since, clock),
      ];
    case 'retrying':
      return [failedText(location), ...nextAttemptText(location, clock)];
    case 'paused': {
      const ago = paused?.since !== undefined && `${ageText(paused.since, clock)} ago`;
      const by = paused?.by !== undefined && `by ${callerName(paused.by)}`;
      const pause = joined(' ', [queue ?? 'The event', 'was paused', ago, by]);
      const failures = (location.attempts ?? 0) > 0 && failedText(location);
      const what = sentence(joined(': ', [pause, paused?.reason]));
      return [what, 'It waits on the queue until the event is resumed.', failures];
    }
    case 'dead-letter':
      return [sentence(error), waitingText(location, clock)];
    case 'processed':
      return [sentence(joined(': ', [`Finished at ${clock.time(since)}`, reason && SKIPS[reason]]))];
    case 'skipped':
      return [sentence(reason === undefined ? 'Nothing had to change' : skipText(reason))];
    case 'removed': {
      const how =
        discarded === undefined ? 'It was redriven or deleted' : `Discarded ${discardText(discarded)}`;
      const when = `It was not on ${setAsideText(queue)} at ${clock.time(since)}.`;
      return [sentence(how), when, again !== undefined && `The same bytes came again as request ${again}.`];
    }
    case 'unknown':
      return ['Neither the logs nor the archive say where it is.'];
  }
}

export const skipText = (reason: SkipReason): string =>
  SKIPS[reason].replace(/^./, (first) => first.toUpperCase());

/** @param error Lambda's name of the error, if known */
export function crashText(error: string | undefined): string {
  if (error === undefined) return 'The function crashed, timed out, or was throttled, without a log line';
  return error.includes('Timedout') ? 'The function timed out' : `The function crashed (${error})`;
}

/** A user or role by the last part of its ARN: `mara` for `arn:aws:sts::123456789012:assumed-role/Operator/mara`. */
export const callerName = (arn: string) => arn.split('/').at(-1) || arn;

/** `the queue of shop.updated`, `the unrouted queue`. */
const queueText = (queue = '') =>
  queue === 'unrouted' || queue === 'quarantine' ? `the ${queue} queue` : `the queue of ${queue}`;

/** The queue on which messages of this name wait for a person: `the dead-letter queue of shop.updated`. */
const setAsideText = (queue: string | undefined) =>
  queueText(queue).replace(/^the queue/, 'the dead-letter queue');

const discardText = ({ by, reason }: Discarded = { by: 'somebody', reason: '' }) =>
  `by ${callerName(by)}: ${reason}`;

const ageText = (since: string, { now }: Clock) => preciseDuration(now - Date.parse(since));

/** Absent if an attempt may still be on its way. */
const overdueText = (since: string, { now }: Clock) =>
  now - Date.parse(since) > OVERDUE &&
  'No attempt since then is known: the consumer crashes, is throttled, or is behind.';

/**
 * The number of failed attempts and the error. Absent if no failed attempt is known and a later attempt has started: the
 * known log may begin with that attempt.
 */
const failedText = ({ attempts, error, startedAt }: HistoryLocation) =>
  (error !== undefined || startedAt === undefined) &&
  `${attempts === 1 ? '1 attempt' : `${attempts} attempts`} failed: ${sentence(error)}`;

function nextAttemptText(location: HistoryLocation, clock: Clock): Parts {
  const { attempts = 0, startedAt, nextAttemptAt, since } = location;
  if (startedAt !== undefined) {
    const isOver = overdueText(startedAt, clock) && 'The function crashed or timed out, without a log line.';
    return [`Attempt ${attempts + 1} started at ${clock.time(startedAt)}.`, isOver];
  }
  if (nextAttemptAt === undefined) {
    return ['It will be retried after the queue’s visibility timeout.', overdueText(since, clock)];
  }
  const left = Date.parse(nextAttemptAt) - clock.now;
  if (left > 0) return [`Next attempt in ${preciseDuration(left)}, at ${clock.time(nextAttemptAt)}.`];
  return [`Retry scheduled for ${clock.time(nextAttemptAt)}.`, overdueText(nextAttemptAt, clock)];
}

function waitingText({ queue, until }: HistoryLocation, { now }: Clock): string {
  const where = setAsideText(queue);
  if (until === undefined) return `It is on ${where}.`;
  const left = Date.parse(until) - now;
  return left > 0
    ? `It is on ${where}. SQS deletes it in ${preciseDuration(left)}.`
    : `It was on ${where} until ${until}, when SQS deleted it.`;
}

const joined = (separator: string, parts: Parts) => parts.filter(Boolean).join(separator);

const withoutStop = (text = 'Error') => text.replace(/\.$/, '');

const sentence = (text = 'Error') => (/[.!?]$/.test(text) ? text : `${text}.`);
