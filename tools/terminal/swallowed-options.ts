import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** Jest's options that people use, for `npm test`, which passes all options on. */
const JEST_OPTIONS = [
  't',
  'testNamePattern',
  'i',
  'runInBand',
  'maxWorkers',
  'watch',
  'watchAll',
  'verbose',
  'u',
  'updateSnapshot',
  'coverage',
  'bail',
  'randomize',
  'seed',
  'selectProjects',
];

/**
 * npm takes options that stand before `--` for itself, and runs the script without them. It passes them on only as
 * variables such as `npm_config_retry_fast`.
 * @param commands the one that the script runs, as `npm_lifecycle_event` names it
 * @returns what to type instead, or undefined if npm took nothing
 */
export function swallowedOptions(
  commands: readonly Pick<CommandUnknownOpts, 'name' | 'options'>[],
  environment: NodeJS.ProcessEnv,
): string | undefined {
  const script = environment.npm_lifecycle_event;
  const command = commands.find((one) => one.name() === script);
  if (command === undefined) return undefined;
  const names = command.options.map((option) => option.long?.replace(/^--(no-)?/, '') ?? '');
  const swallowed = [...names, ...(script === 'test' ? JEST_OPTIONS : [])].filter(
    (name) => environment[`npm_config_${name.replaceAll('-', '_')}`] !== undefined,
  );
  if (swallowed.length === 0) return undefined;
  const options = swallowed.map((name) => (name.length === 1 ? `-${name}` : `--${name}`));
  const npm = script === 'start' || script === 'test' ? `npm ${script}` : `npm run ${script}`;
  return (
    `npm took ${options.join(' and ')} for itself, because -- is missing: ${npm} -- ${options.join(' ')}\n` +
    `Or type: npx hookctl ${script} ${options.join(' ')}`
  );
}
