import { Stack } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { metrics as reportedMetrics } from '../../lambda/metric-names.ts';
import { SMOKE_TEST_PREFIX } from '../../lambda/smoke-test/request-id.ts';

/** What CloudWatch has metrics of: a queue, a function, an API … */
export interface MetricSource {
  metric(metricName: string, options?: MetricOptions): Metric;
}

type Dimensions = Readonly<Record<string, string>>;

/** Metrics of a namespace under the same dimensions. */
export const metricsUnder = (namespace: string, dimensionsMap: Dimensions): MetricSource => ({
  metric: (metricName, options) => new Metric({ namespace, metricName, dimensionsMap, ...options }),
});

/**
 * Metrics that are made of the stack's logs, in a namespace of its name: what functions report as embedded metric format
 * (with the dimension `service`), and what {@link countLines} counts.
 * @param dimensions a reported metric has those of them that functions report it with
 */
export function logMetrics(scope: Construct, dimensions: Dimensions = {}): MetricSource {
  const namespace = Stack.of(scope).stackName;
  return {
    /** @throws Error if a dimension of a reported metric is not given: CloudWatch knows it under all of them only */
    metric(metricName, options) {
      const reported: { dimensions: readonly string[] } | undefined =
        reportedMetrics[metricName as keyof typeof reportedMetrics];
      const names = reported === undefined ? Object.keys(dimensions) : ['service', ...reported.dimensions];
      const dimensionsMap = Object.fromEntries(
        names.map((name) => {
          const value = dimensions[name];
          if (value === undefined) throw new Error(`${metricName} needs the dimension ${name}`);
          return [name, value];
        }),
      );
      return new Metric({ namespace, metricName, dimensionsMap, ...options });
    },
  };
}

/** The pattern of lines with one of these messages. @param messages a trailing `*` stands for any text */
export const messagePattern = (...messages: readonly string[]): string =>
  `{ ${messages.map((message) => `$.message = "${message}"`).join(' || ')} }`;

/**
 * What Lambda writes of an invocation that failed, timed out or died. Source: Lambda developer guide, "Configuring JSON and
 * plain text log formats"; Lambda telemetry API reference, `platform.report`.
 */
export const INVOCATION_FAILED = '{ $.type = "platform.report" && $.record.status != "success" }';

/** Lines of the receiver about a delivery whose signature was right, whatever became of it. */
export const SIGNATURE_RIGHT = messagePattern('Accepted', 'Parked', 'Unusable');

/** Its lines about a well-formed signature that was wrong; that of the smoke test is meant to be. */
export const SIGNATURE_WRONG = `{ $.message = "Rejected" && $.reason = "wrong-signature" && $.requestId != "${SMOKE_TEST_PREFIX}*" }`;

/** The lines of an event that the receiver has accepted. */
export const acceptedPattern = (event: EventName): string =>
  `{ $.message = "Accepted" && $.event = "${event}" }`;

/** Lines of a log that make values of a metric. */
interface CountedLines {
  readonly metric: string;
  readonly pattern: string;
  /** A number, or the field of the line that has one. @default '1' */
  readonly value?: string;
  /** Fields of the line that are dimensions of the metric, by their names. @default none */
  readonly dimensions?: Dimensions;
}

/**
 * What is counted from the receiver's log, by the ids of the filters. `Verified` is 1 for a right signature and 0 for a
 * wrong one, so that its maximum tells wrong ones alone from wrong ones among right ones, and both from silence. A filter
 * keeps each value of `DeliveryLag` (milliseconds from the partner's `timestamp` to the receipt), so that it has
 * percentiles. Source: CloudWatch Logs user guide, "Creating metrics from log events using filters".
 */
export const receiverLines: Readonly<Record<string, CountedLines>> = {
  WronglySigned: { metric: 'Verified', pattern: SIGNATURE_WRONG, value: '0' },
  Verified: { metric: 'Verified', pattern: SIGNATURE_RIGHT },
  PutAside: { metric: 'PutAside', pattern: messagePattern('Unusable', 'Parked') },
  DeliveryLag: {
    metric: 'DeliveryLag',
    pattern: '{ $.message = "Accepted" && $.lagMs >= 0 }',
    value: '$.lagMs',
  },
};

/** The lag of one event: a metric that is paid for by itself. */
export const eventLagLines = (event: EventName): Readonly<Record<string, CountedLines>> => ({
  [`DeliveryLag-${event}`]: {
    metric: 'DeliveryLag',
    pattern: `{ $.message = "Accepted" && $.event = "${event}" && $.lagMs >= 0 }`,
    value: '$.lagMs',
    dimensions: { event: '$.event' },
  },
});

/**
 * What is counted from each consumer's log. A consumer that died could not log its failure. `EffectLatency` is milliseconds
 * from the receipt of a delivery to its effect; replays have none.
 */
export const consumerLines: Readonly<Record<string, CountedLines>> = {
  Failed: { metric: 'Failures', pattern: messagePattern('Failed') },
  Died: { metric: 'Failures', pattern: INVOCATION_FAILED },
  PutAside: { metric: 'PutAside', pattern: messagePattern('DeadLettered') },
  EffectLatency: { metric: 'EffectLatency', pattern: '{ $.latencyMs >= 0 }', value: '$.latencyMs' },
};

/** Counts lines of a log into metrics of the stack. Several logs may count into one metric, which is then paid for once. */
export function countLines(log: LogGroup, lines: Readonly<Record<string, CountedLines>>): void {
  for (const [id, { metric, pattern, value = '1', dimensions }] of Object.entries(lines)) {
    log.addMetricFilter(id, {
      filterPattern: FilterPattern.literal(pattern),
      metricNamespace: Stack.of(log).stackName,
      metricName: metric,
      metricValue: value,
      ...(dimensions && { dimensions }),
    });
  }
}
