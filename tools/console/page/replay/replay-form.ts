import { REPLAYABLE_DAYS } from '../../../../lambda/limits.ts';
import { REPLAY_NAME } from '../../../../lambda/queue/replay.ts';
import { MAX_RATE, NAME_RULE } from '../../../stage/replay/limits.ts';
import { timeOf } from '../ui/moment-field.tsx';

/** The form as the user typed it. The command parses it. Times are ISO 8601 or durations such as `24h`. */
export interface ReplayForm {
  readonly events: readonly string[];
  /** Undefined until the user changes it: see {@link sinceOf}. */
  readonly since: string | undefined;
  readonly until: string;
  readonly shop: string;
  readonly ids: string;
  readonly mode: 'fill' | 'repair';
  readonly notify: boolean;
  readonly rate: string;
  readonly name: string;
}

export const emptyForm: ReplayForm = {
  events: [],
  since: undefined,
  until: '',
  shop: '',
  ids: '',
  mode: 'fill',
  notify: false,
  rate: '',
  name: '',
};

const DAY = 24 * 60 * 60_000;

/**
 * The start of the window. Only a new replay has a default: the name of an earlier replay, without a start, resumes
 * that replay.
 */
export const sinceOf = ({ since, name }: ReplayForm) => since ?? (name.trim() === '' ? '24h' : '');

type FormProblems = { readonly [Name in keyof ReplayForm]?: string };

/**
 * Errors in the form, by field. The command checks the other fields.
 * @param now epoch milliseconds
 */
export function formProblems(form: ReplayForm, now: number): FormProblems {
  const [rate, name] = [form.rate.trim(), form.name.trim()];
  const isRate = /^[1-9]\d*$/.test(rate) && Number(rate) <= MAX_RATE;
  return {
    ...windowProblems(form, now),
    ...(rate !== '' && !isRate && { rate: RATE_RULE }),
    ...(name !== '' && !REPLAY_NAME.test(name) && { name: NAME_RULE }),
  };
}

const RATE_RULE = `It must be a whole number from 1 to ${MAX_RATE.toLocaleString('en')}.`;

function windowProblems(form: ReplayForm, now: number): FormProblems {
  const [start, end] = [timeOf(sinceOf(form), now), timeOf(form.until, now)];
  const since = startProblem(form, start, now);
  if (end === undefined) return { ...since };
  if (end > now) return { ...since, until: FUTURE };
  const isOrdered = since !== undefined || start === undefined || end > start;
  return { ...since, ...(!isOrdered && { until: 'Until must be after Since.' }) };
}

const FUTURE = 'This time is in the future.';

function startProblem(
  { name }: ReplayForm,
  start: number | undefined,
  now: number,
): FormProblems | undefined {
  if (start === undefined) return name.trim() === '' ? { since: 'Choose a date and a time.' } : undefined;
  if (start > now) return { since: FUTURE };
  const isTooOld = start < now - REPLAYABLE_DAYS * DAY;
  return isTooOld ? { since: `A replay reaches back ${REPLAYABLE_DAYS} days.` } : undefined;
}

/**
 * Arguments of the command. Empty fields and defaults are left out, so that a name alone resumes an earlier
 * replay.
 */
export function planArguments(form: ReplayForm): string[] {
  const option = (name: string, value: string) => (value.trim() === '' ? [] : [name, value.trim()]);
  return [
    'replay',
    ...form.events,
    ...option('--since', sinceOf(form)),
    ...option('--until', form.until),
    ...option('--shop', form.shop),
    ...form.ids.split(/[\s,]+/).flatMap((id) => option('--id', id)),
    ...(form.mode === 'fill' ? [] : ['--mode', form.mode]),
    ...(form.notify ? ['--notify'] : []),
    ...option('--rate', form.rate),
    ...option('--name', form.name),
    '--dry-run',
  ];
}

export const isPlanOf = (argv: readonly string[], form: ReplayForm) =>
  JSON.stringify(argv) === JSON.stringify(planArguments(form));
