import type { EventInfo, ReplayAction } from '../../api.ts';

type EventName = EventInfo['name'];

/** As it is typed. */
export interface ReplayForm {
  readonly events: readonly EventName[];
  readonly since: string;
  readonly until: string;
  readonly shop: string;
  readonly ids: string;
  readonly mode: 'fill' | 'repair';
  readonly notify: boolean;
  readonly rate: string;
  readonly name: string;
}

/** Messages a second, unless it is said otherwise, and at most: as `npm run replay`. */
const RATE = 100;
const FASTEST = 10_000;

export const emptyForm: ReplayForm = {
  events: [],
  since: '24h',
  until: '',
  shop: '',
  ids: '',
  mode: 'fill',
  notify: false,
  rate: String(RATE),
  name: '',
};

export type FormProblems = Readonly<Partial<Record<keyof ReplayForm, string>>>;

/** A length back from now, or a date and, with its zone, a time: as `npm run replay` reads them. */
const TIME = /^([1-9]\d{0,5}[mhd]|\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?)$/;

/** `REPLAY_NAME` of lambda/queue/replay.ts, whose file would bring its schemas along. */
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

const NO_TIME = 'A length back such as 90m, 3h or 7d, or a time such as 2026-01-31T09:00:00Z';

/** What can be told here; the command itself looks at the rest. */
export function formProblems({ since, until, rate, name }: ReplayForm): FormProblems {
  const messages = Number(rate);
  return {
    ...(since.trim() === '' && name.trim() === '' && { since: 'Say from when' }),
    ...(since.trim() !== '' && !TIME.test(since.trim()) && { since: NO_TIME }),
    ...(until.trim() !== '' && !TIME.test(until.trim()) && { until: NO_TIME }),
    ...(!(/^\d+$/.test(rate.trim()) && messages >= 1 && messages <= FASTEST) && {
      rate: `A whole number from 1 to ${FASTEST.toLocaleString('en')}`,
    }),
    ...(name.trim() !== '' &&
      !NAME.test(name.trim()) && {
        name: '1 to 63 lower-case letters, digits and hyphens; no hyphen first',
      }),
  };
}

/** What is empty, or as the command has it unless told, is left to the command: so it can go on with a replay by its name. */
export function replayAction(form: ReplayForm, dryRun: boolean): ReplayAction {
  const [since, until, shop, name] = [form.since, form.until, form.shop, form.name].map((text) =>
    text.trim(),
  );
  const ids = form.ids.split(/[\s,]+/).filter((id) => id !== '');
  return {
    kind: 'replay',
    dryRun,
    events: form.events,
    ...(since && { since }),
    ...(until && { until }),
    ...(shop && { shop }),
    ...(ids.length > 0 && { ids }),
    ...(form.mode !== 'fill' && { mode: form.mode }),
    ...(form.notify && { notify: true }),
    ...(Number(form.rate) !== RATE && { rate: Number(form.rate) }),
    ...(name && { name }),
  };
}

/** Whether a plan is of this form and no other. */
export const isPlanOf = (planned: ReplayForm, form: ReplayForm) =>
  JSON.stringify(replayAction(planned, true)) === JSON.stringify(replayAction(form, true));
