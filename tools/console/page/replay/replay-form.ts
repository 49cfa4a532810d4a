import { REPLAYABLE_DAYS } from '../../../../lambda/limits.ts';
import { timeOf } from '../ui/moment-field.tsx';

/** The form as typed. The command itself parses it. Times are ISO 8601 or durations such as `24h`. */
export interface ReplayForm {
  readonly events: readonly string[];
  readonly since: string;
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
  since: '24h',
  until: '',
  shop: '',
  ids: '',
  mode: 'fill',
  notify: false,
  rate: '',
  name: '',
};

const DAY = 24 * 60 * 60_000;

/** What is wrong with the times, if anything. @param now epoch milliseconds */
export function windowProblems(
  { since, until, name }: ReplayForm,
  now: number,
): { readonly since?: string; readonly until?: string } {
  const [start, end] = [timeOf(since, now), timeOf(until, now)];
  const future = 'This time is in the future.';
  if (start === undefined) return name.trim() === '' ? { since: 'Choose a date and a time.' } : {};
  if (start > now) return { since: future };
  if (start < now - REPLAYABLE_DAYS * DAY) return { since: `A replay reaches back ${REPLAYABLE_DAYS} days.` };
  if (end === undefined) return {};
  if (end > now) return { until: future };
  return end > start ? {} : { until: 'Until must be after Since.' };
}

/** Empty fields and defaults are not passed to the command, so that it can resume a replay by its name. */
export function planArguments(form: ReplayForm): string[] {
  const option = (name: string, value: string) => (value.trim() === '' ? [] : [name, value.trim()]);
  return [
    'replay',
    ...form.events,
    ...option('--since', form.since),
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
