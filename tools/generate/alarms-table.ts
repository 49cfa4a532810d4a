import { type AlarmDefinition, alarmTable } from '../../lib/alarms/alarm-table.ts';
import { markdownTable } from './markdown-table.ts';

/**
 * Every alarm with a link to its section in the runbook, and when it fires, in the order of the sections: the most
 * urgent first. Alarms that differ only in their name share a row.
 * @param runbook `docs/operations.md`, with a section for each alarm
 * @throws Error if an alarm has no section
 */
export function alarmsTable(runbook: string): string {
  const titles = [...runbook.matchAll(/^### (.+)$/gm)].map(([, title = '']) => title);
  const alarms = Object.entries<AlarmDefinition>(alarmTable).map(([name, { metric, fires, section }]) => {
    const position = titles.findIndex((title) => anchor(title) === section);
    if (position === -1) throw new Error(`The alarm ${name} has no section with the anchor #${section}`);
    const statistic = metric.statistic.replace(/^[MS]/, (letter) => letter.toLowerCase());
    const metricText = `\`${metric.name}\` (${statistic}, ${duration(metric.period)})`;
    return { name, position, section, condition: `${metricText} ${firesAt(fires)}` };
  });
  const sorted = alarms.toSorted((one, other) => one.position - other.position);
  const rows = [...Map.groupBy(sorted, ({ section, condition }) => section + condition).values()].map(
    (same) => [
      same.map(({ name, section }) => `[\`${name}\`](operations.md#${section})`).join(', '),
      same[0]?.condition ?? '',
    ],
  );
  return markdownTable(['Alarm', 'Fires when'], rows);
}

const anchor = (title: string) => title.toLowerCase().replaceAll(' ', '-');

const COMPARISONS = { '>=': '≥', '<=': '≤', '<': '<' } as const;

const WITHOUT_VALUE = { BREACHING: ' or has no value', IGNORE: '; keeps its state without a value' };

function firesAt(fires: AlarmDefinition['fires']): string {
  const { comparison = '>=', threshold, thresholdInPause, timesSetting, unit, missingData } = fires;
  const amount = (value: number) => {
    if (timesSetting !== undefined) return `${value === 1 ? '' : `${value} × `}\`${timesSetting}\``;
    return unit === 'seconds' ? duration(value) : `${value.toLocaleString('en')} ${unit ?? ''}`.trim();
  };
  const inPause = thresholdInPause === undefined ? '' : ` (${amount(thresholdInPause)} in a pause)`;
  return [
    `${COMPARISONS[comparison]} ${amount(threshold)}${inPause}`,
    missingData === undefined ? '' : WITHOUT_VALUE[missingData],
    times(fires),
  ].join('');
}

function times({ periods = 1, periodsAtThreshold }: AlarmDefinition['fires']): string {
  const count = typeof periods === 'string' ? `\`${periods}\`` : periods;
  if (periodsAtThreshold !== undefined) return `, ${periodsAtThreshold} of ${count} times`;
  return periods === 1 ? '' : `, ${count} times in a row`;
}

/** Text of a duration, in the largest unit that leaves no fraction. */
function duration(seconds: number): string {
  const units = { day: 86_400, hour: 3_600, minute: 60 };
  const [unit, size] = Object.entries(units).find(([, length]) => seconds % length === 0) ?? ['second', 1];
  return `${seconds / size} ${unit}${seconds === size ? '' : 's'}`;
}
