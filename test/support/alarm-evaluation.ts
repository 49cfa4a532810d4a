/** What an alarm of a template looks at, as CloudFormation names it. */
export interface EvaluatedAlarm {
  readonly Statistic?: 'Sum' | 'Maximum' | 'Minimum';
  readonly ExtendedStatistic?: 'p50';
  readonly Threshold: number;
  readonly ComparisonOperator: keyof typeof comparisons;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm?: number;
  readonly TreatMissingData: 'notBreaching' | 'breaching' | 'ignore';
}

/** The values of one period of the metric; none where nothing was published. */
export type PeriodValues = readonly number[];

const comparisons = {
  GreaterThanOrEqualToThreshold: (value: number, threshold: number) => value >= threshold,
  LessThanOrEqualToThreshold: (value: number, threshold: number) => value <= threshold,
  LessThanThreshold: (value: number, threshold: number) => value < threshold,
};

const statistics = {
  Sum: (values: PeriodValues) => values.reduce((sum, value) => sum + value, 0),
  Maximum: (values: PeriodValues) => Math.max(...values),
  Minimum: (values: PeriodValues) => Math.min(...values),
  p50: (values: PeriodValues) =>
    values.toSorted((one, other) => one - other)[Math.ceil(values.length / 2) - 1] ?? Number.NaN,
};

/**
 * Whether an alarm that was silent rings after these periods of its metric, the newest last. CloudWatch evaluates the
 * same way, and besides looks a few periods further back: where values are missing, real ones from there count first,
 * so that silence rings these periods later.
 * Source: CloudWatch user guide, "Alarm evaluation" and "Configuring how CloudWatch alarms treat missing data".
 * @param periods the earlier ones that the alarm looks at besides have no value
 */
export function rings(alarm: EvaluatedAlarm, periods: readonly PeriodValues[]): boolean {
  const statistic = alarm.Statistic ?? alarm.ExtendedStatistic;
  if (statistic === undefined) throw new Error('The alarm names no statistic');
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, TreatMissingData } = alarm;
  const looked = Array.from({ length: EvaluationPeriods }, (_, index) => periods.at(-1 - index) ?? []);
  if (TreatMissingData === 'ignore' && looked.every((values) => values.length === 0)) return false;
  const breaching = looked.filter((values) =>
    values.length === 0
      ? TreatMissingData === 'breaching'
      : comparisons[alarm.ComparisonOperator](statistics[statistic](values), alarm.Threshold),
  );
  return breaching.length >= DatapointsToAlarm;
}
