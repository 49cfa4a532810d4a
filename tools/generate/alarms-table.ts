import { type AlarmDefinition, alarmTable } from '../../lib/alarms/alarm-table.ts';

/** Table of all alarms for the runbook: when each fires, the effect on users, and its section. */
export function alarmsTable(): string {
  const rows = Object.entries<AlarmDefinition>(alarmTable).map(([name, { metric, rings, impact, section }]) =>
    [
      `| \`${name}\``,
      `\`${metric.name}\`, ${metric.statistic.replace(/^[MS]/, (letter) => letter.toLowerCase())} of ${duration(metric.period)}`,
      ringsAt(rings),
      impactText(impact),
      `[${title(section)}](#${section}) |`,
    ].join(' | '),
  );
  return ['| Alarm | Metric | Rings at | Impact | Section |', '|---|---|---|---|---|', ...rows].join('\n');
}

const COMPARISONS = { '>=': '≥', '<=': '≤', '<': '<' } as const;

const WITHOUT_VALUE = { BREACHING: ', or without a value', IGNORE: '; keeps its state without a value' };

function ringsAt(rings: AlarmDefinition['rings']): string {
  const { comparison = '>=', threshold, thresholdInPause, timesSetting, unit, missingData } = rings;
  const amount = (value: number) => {
    if (timesSetting !== undefined) return `${value === 1 ? '' : `${value} × `}\`${timesSetting}\``;
    return unit === 'seconds' ? duration(value) : `${value.toLocaleString('en')} ${unit ?? ''}`.trim();
  };
  const inPause = thresholdInPause === undefined ? '' : ` (in a pause ${amount(thresholdInPause)})`;
  return [
    `${COMPARISONS[comparison]} ${amount(threshold)}${inPause}`,
    missingData === undefined ? '' : WITHOUT_VALUE[missingData],
    times(rings),
  ].join('');
}

function times({ periods = 1, periodsAtThreshold }: AlarmDefinition['rings']): string {
  const count = typeof periods === 'string' ? `\`${periods}\`` : periods;
  if (periodsAtThreshold !== undefined) return `, ${periodsAtThreshold} of ${count} times`;
  return periods === 1 ? '' : `, ${count} times in a row`;
}

/** In the largest unit without a fraction. */
function duration(seconds: number): string {
  const units = { day: 86_400, hour: 3_600, minute: 60 };
  const [unit, size] = Object.entries(units).find(([, length]) => seconds % length === 0) ?? ['second', 1];
  return `${seconds / size} ${unit}${seconds === size ? '' : 's'}`;
}

function impactText(impact: AlarmDefinition['impact']): string {
  if (typeof impact !== 'string') return `HTTP API: ${impact.http} REST API: ${impact.rest}`;
  return impact === '<impact>' ? 'the event’s own (`impact` in its definition)' : impact.replace('<', '\\<');
}

const title = (section: string) =>
  section.replaceAll('-', ' ').replace(/^\w/, (letter) => letter.toUpperCase());
