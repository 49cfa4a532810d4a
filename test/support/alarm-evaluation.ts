/** The properties of an alarm that its evaluation needs, with the names of CloudFormation. */
export interface EvaluatedAlarm {
  readonly Statistic?: 'Sum' | 'Maximum' | 'Minimum';
  readonly ExtendedStatistic?: 'p50';
  readonly Threshold: number;
  readonly ComparisonOperator: keyof typeof comparisons;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm?: number;
  readonly TreatMissingData: 'notBreaching' | 'breaching' | 'ignore';
}

/** The values of one period of the metric. Empty if nothing was published. */
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
 * Whether a silent alarm fires after these periods of its metric, newest last. CloudWatch evaluates in the same way,
 * but also looks a few periods further back: if values are missing, real ones from there count first, so that an alarm
 * on missing data fires that much later. Source: CloudWatch user guide, "Alarm evaluation" and "Configuring how
 * CloudWatch alarms treat missing data".
 * @param periods the alarm's earlier periods count as empty
 */
export function fires(alarm: EvaluatedAlarm, periods: readonly PeriodValues[]): boolean {
  const statistic = alarm.Statistic ?? alarm.ExtendedStatistic;
  if (statistic === undefined) throw new Error('The alarm names no statistic');
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, TreatMissingData } = alarm;
  const evaluated = Array.from({ length: EvaluationPeriods }, (_, index) => periods.at(-1 - index) ?? []);
  if (TreatMissingData === 'ignore' && evaluated.every((values) => values.length === 0)) return false;
  const breaching = evaluated.filter((values) =>
    values.length === 0
      ? TreatMissingData === 'breaching'
      : comparisons[alarm.ComparisonOperator](statistics[statistic](values), alarm.Threshold),
  );
  return breaching.length >= DatapointsToAlarm;
}
