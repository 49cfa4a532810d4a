/** The properties of an alarm that its evaluation needs, with the names of CloudFormation. */
interface EvaluatedAlarm {
  readonly Statistic?: 'Sum' | 'Maximum' | 'Minimum';
  readonly ExtendedStatistic?: 'p50' | 'p99';
  /** Seconds. */
  readonly Period: number;
  readonly Threshold: number;
  readonly ComparisonOperator: keyof typeof comparisons;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm?: number;
  readonly TreatMissingData: 'notBreaching' | 'breaching' | 'ignore';
}

/** A value of a metric, and its age in minutes when the alarm is evaluated. */
export type DataPoint = readonly [age: number, value: number];

const comparisons = {
  GreaterThanOrEqualToThreshold: (value: number, threshold: number) => value >= threshold,
  LessThanOrEqualToThreshold: (value: number, threshold: number) => value <= threshold,
  LessThanThreshold: (value: number, threshold: number) => value < threshold,
};

const percentile = (share: number) => (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * share) - 1] ?? Number.NaN;

const statistics = {
  Sum: (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0),
  Maximum: (values: readonly number[]) => Math.max(...values),
  Minimum: (values: readonly number[]) => Math.min(...values),
  p50: percentile(0.5),
  p99: percentile(0.99),
};

/**
 * Whether an alarm fires. CloudWatch evaluates in the same way, but also looks a few periods further back: if values
 * are missing, real ones from there count first, so that an alarm on missing data fires that much later. Source:
 * CloudWatch user guide, "Alarm evaluation" and "Configuring how CloudWatch alarms treat missing data".
 * @param points all values of its metric
 * @param fired whether it fired before
 */
export function fires(alarm: EvaluatedAlarm, points: readonly DataPoint[], fired = false): boolean {
  const statistic = alarm.Statistic ?? alarm.ExtendedStatistic;
  if (statistic === undefined) throw new Error('The alarm names no statistic');
  const { Period, EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, TreatMissingData } = alarm;
  const periods = Array.from({ length: EvaluationPeriods }, (_, index) =>
    points.filter(([age]) => Math.floor((age * 60) / Period) === index).map(([, value]) => value),
  );
  if (TreatMissingData === 'ignore' && periods.every((values) => values.length === 0)) return fired;
  const breaching = periods.filter((values) =>
    values.length === 0
      ? TreatMissingData === 'breaching'
      : comparisons[alarm.ComparisonOperator](statistics[statistic](values), alarm.Threshold),
  );
  return breaching.length >= DatapointsToAlarm;
}
