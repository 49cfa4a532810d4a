import type { Duration } from 'aws-cdk-lib';
import { MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';

export interface SumProps {
  /** Prefix of the metrics' ids in the formula, unique in the graph. */
  readonly id: string;
  readonly label: string;
  readonly metrics: readonly Metric[];
  readonly period: Duration;
  /** What the sum is multiplied with. @default 1 */
  readonly factor?: number;
}

/** Decimal places that keep a price for one byte or millisecond exact enough. */
const PLACES = 15;

/** The sum of metrics, times a factor. A metric without a value in a period counts nothing. */
export function sum({ id, label, metrics, period, factor = 1 }: SumProps): MathExpression {
  const ids = metrics.map((_, index) => `${id}${index}`);
  // Written out: the syntax of metric math knows no exponents.
  const times = factor === 1 ? '' : ` * ${factor.toFixed(PLACES).replace(/0+$/, '')}`;
  return new MathExpression({
    expression: `SUM([${ids.join(',')}])${times}`,
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`${id}${index}`, metric])),
    label,
    period,
  });
}
