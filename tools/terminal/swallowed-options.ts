import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** Options of Jest that people use with `npm test`, whose script accepts all options. */
const JEST_OPTIONS = [
  '-t',
  '--testNamePattern',
  '-i',
  '--runInBand',
  '--watch',
  '--coverage',
  '-u',
  '--bail',
];

/**
 * Detects options that npm took for itself: npm takes options before `--`, and runs the script without them. npm passes
 * these options on only as variables such as `npm_config_retry_fast`, which is empty for `--no-retry-fast`.
 * @param commands the command of the script that npm runs, as `npm_lifecycle_event` names it
 * @param args arguments that npm passed to the script
 * @returns what to type instead, or undefined if npm took nothing
 */
export function swallowedOptions(
  commands: readonly Pick<CommandUnknownOpts, 'name' | 'options'>[],
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): string | undefined {
  const script = environment.npm_lifecycle_event;
  const command = commands.find((one) => one.name() === script);
  if (command === undefined) return undefined;
  const own = command.options.map(({ long }) => long ?? '');
  const jest = script === 'test' ? JEST_OPTIONS : [];
  const swallowed = [...own, ...jest].flatMap((option) => {
    const value = environment[`npm_config_${option.replace(/^--?(no-)?/, '').replaceAll('-', '_')}`];
    return value === undefined ? [] : [{ option, value: ['true', 'false', ''].includes(value) ? '' : value }];
  });
  if (swallowed.length === 0) return undefined;
  const names = swallowed.map(({ option }) => option).join(' and ');
  // A secret is not printed.
  const typed = swallowed.map(({ option, value }) =>
    `${option} ${option === '--secret' ? '…' : value}`.trimEnd(),
  );
  const words = [...typed, ...args].join(' ');
  const npm = script === 'start' || script === 'test' ? `npm ${script}` : `npm run ${script}`;
  return (
    `npm took ${names} for itself, because -- is missing: ${npm} -- ${words}\n` +
    `Or type: npx hookctl ${script} ${words}`
  );
}
