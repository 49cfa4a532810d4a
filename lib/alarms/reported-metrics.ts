import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { type DimensionName, type MetricName, metrics } from '../../lambda/metric-names.ts';

/** Sums of a minute, unless said otherwise. */
const DEFAULTS = { period: Duration.minutes(1), statistic: 'Sum' };

type Dimensions = Readonly<Partial<Record<DimensionName, string>>>;

/** The metrics that the functions report themselves, as embedded metric format in their logs. */
export class ReportedMetrics {
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** Those of the stack that a construct is of: its functions report under its name. */
  static of(scope: Construct): ReportedMetrics {
    return new ReportedMetrics(Stack.of(scope).stackName);
  }

  /** @throws Error where the dimensions are not those that the metric has */
  ofReceiver(name: MetricName, dimensions: Dimensions = {}, options: MetricOptions = {}): Metric {
    return this.ofService(name, 'receiver', dimensions, options);
  }

  /** Of an event's consumer. @throws Error where the dimensions are not those that the metric has */
  ofConsumer(name: MetricName, event: EventName, options: MetricOptions = {}): Metric {
    const byEvent = (metrics[name].dimensions as readonly DimensionName[]).includes('event');
    return this.ofService(name, kebabCase(event), byEvent ? { event } : {}, options);
  }

  /** Of a function. @throws Error where the dimensions are not those that the metric has */
  ofService(
    name: MetricName,
    service: string,
    dimensions: Dimensions = {},
    options: MetricOptions = {},
  ): Metric {
    // CloudWatch knows a metric under all of its dimensions or not at all: a graph would just stay empty.
    const given = Object.keys(dimensions).sort().join(', ');
    const wanted = [...metrics[name].dimensions].sort().join(', ');
    if (given !== wanted) throw new Error(`${name} has the dimensions [${wanted}], not [${given}]`);
    return new Metric({
      namespace: this.#namespace,
      metricName: name,
      dimensionsMap: { service, ...dimensions },
      ...DEFAULTS,
      ...options,
    });
  }
}
