/** The form as typed. The command itself parses it. */
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

/** Empty fields and defaults are not passed to the command, so that it can resume a replay by its name. */
export function replayArguments(form: ReplayForm, last: '--dry-run' | '--yes'): string[] {
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
    last,
  ];
}

export const isPlanOf = (argv: readonly string[], form: ReplayForm) =>
  JSON.stringify(argv) === JSON.stringify(replayArguments(form, '--dry-run'));
