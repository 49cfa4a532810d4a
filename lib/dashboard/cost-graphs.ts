import { Duration } from 'aws-cdk-lib';
import { GraphWidget, type IWidget, MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnFunction, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { metricsUnder } from '../alarms/log-metrics.ts';
import type { WebhookApi } from '../api/webhook-api.ts';
import type { Archive } from '../archive/archive.ts';
import type { Effects } from '../pipeline/effects.ts';
import type { EventPipeline } from '../pipeline/event-pipeline.ts';
import type { Receiver } from '../pipeline/receiver.ts';
import { FIREHOSE_CHUNK, GIGABYTE, prices } from '../prices.ts';

/** Resources that are paid by use. */
export interface CostSources {
  readonly api: WebhookApi;
  readonly receiver: Receiver;
  readonly pipelines: readonly EventPipeline[];
  readonly archive: Archive | undefined;
  readonly effects: Effects;
}

/** Lambda's own default. Source: Lambda API reference, `CreateFunction`, `MemorySize`. */
const DEFAULT_MEMORY_MEGABYTES = 128;

const REQUEST_PRICE = { http: 'httpApiRequest', rest: 'restApiRequest' } as const;

/** What does it cost? Dollars by service per hour and per day, computed from the services' own metrics. */
export function cost(sources: CostSources): IWidget[][] {
  const graph = (title: string, period: Duration, start: string) =>
    new GraphWidget({
      title,
      width: 12,
      height: 7,
      left: charges(sources, period),
      leftYAxis: { min: 0, label: 'US dollars', showUnits: false },
      stacked: true,
      start,
      end: 'PT0H',
    });
  return [
    [
      graph('US dollars per hour, last two days', Duration.hours(1), '-P2D'),
      graph('US dollars per day, last four weeks', Duration.days(1), '-P28D'),
    ],
  ];
}

function charges({ api, receiver, pipelines, archive, effects }: CostSources, period: Duration) {
  const total = { period, statistic: 'Sum' };
  const charge = (id: string, label: string, metrics: readonly Metric[], factor: number) =>
    sum({ id, label, metrics, period, factor });
  const functions = [receiver, ...pipelines.map(({ consumer }) => consumer)];
  const units = (kind: 'Read' | 'Write') =>
    effects.tables.flatMap(({ table, indexes = [] }) =>
      [{}, ...indexes.map((index) => ({ GlobalSecondaryIndexName: index }))].map((dimension) =>
        table.metric(`Consumed${kind}CapacityUnits`, {
          dimensionsMap: { TableName: table.tableName, ...dimension },
          ...total,
        }),
      ),
    );
  const logGroups = [api.accessLog, ...functions.map(({ logGroup }) => logGroup)];

  return [
    charge(
      'api',
      'API Gateway requests',
      [api.gateway.metrics.metric('Count', total)],
      prices[REQUEST_PRICE[api.gateway.kind]],
    ),
    charge(
      'calls',
      'Lambda requests',
      functions.map((one) => one.function.metricInvocations(total)),
      prices.lambdaRequest,
    ),
    ...[...byMemory(functions.map((one) => one.function))].map(([megabytes, ofThatSize]) =>
      charge(
        `time${megabytes}x`,
        `Lambda time at ${megabytes} MB`,
        ofThatSize.map((one) => one.metricDuration(total)),
        ((prices.lambdaGigabyteSecondArm / 1000) * megabytes) / 1024,
      ),
    ),
    charge(
      'sqs',
      'SQS requests (upper limit)',
      // Messages of a batch share a request, but no metric shows it. So each message counts as one request.
      pipelines.flatMap(({ queue }) => [
        queue.metricNumberOfMessagesSent(total),
        queue.metricNumberOfMessagesReceived(total),
        queue.metricNumberOfMessagesDeleted(total),
        queue.metricNumberOfEmptyReceives(total),
      ]),
      prices.sqsRequest + prices.sqsFairQueueRequest,
    ),
    charge('writes', 'DynamoDB writes', units('Write'), prices.dynamodbWriteUnit),
    charge('reads', 'DynamoDB reads', units('Read'), prices.dynamodbReadUnit),
    charge(
      'sns',
      'SNS publishes',
      [effects.chat, effects.review].map((topic) => topic.metricNumberOfMessagesPublished(total)),
      prices.snsPublish,
    ),
    charge(
      'logs',
      'CloudWatch Logs, incoming',
      logGroups.map(({ logGroupName: LogGroupName }) =>
        metricsUnder('AWS/Logs', { LogGroupName }).metric('IncomingBytes', total),
      ),
      prices.logGigabyte / GIGABYTE,
    ),
    ...(archive === undefined
      ? []
      : [
          charge(
            'archive',
            'Firehose records (up to 5 KB each)',
            pipelines.map(({ event }) => archive.streamMetrics(event).metric('IncomingRecords', total)),
            (prices.firehoseGigabyte * FIREHOSE_CHUNK) / GIGABYTE,
          ),
        ]),
  ];
}

/** Functions by their memory in the template, in megabytes. */
function byMemory(functions: readonly LambdaFunction[]): Map<number, LambdaFunction[]> {
  return Map.groupBy(functions, ({ node }) => {
    const template = node.defaultChild;
    return (template instanceof CfnFunction ? template.memorySize : undefined) ?? DEFAULT_MEMORY_MEGABYTES;
  });
}

interface Sum {
  /** Prefix of the metrics' ids in the formula, unique in the graph. */
  readonly id: string;
  readonly label: string;
  readonly metrics: readonly Metric[];
  readonly period: Duration;
  /** @default 1 */
  readonly factor?: number;
}

/** Decimal places that keep a price for one byte or millisecond exact enough. */
const PLACES = 15;

/** The sum of metrics, multiplied by a factor. A metric without a value in a period counts as 0. */
export function sum({ id, label, metrics, period, factor = 1 }: Sum): MathExpression {
  const ids = metrics.map((_, index) => `${id}${index}`);
  // Metric math has no notation with exponents.
  const times = factor === 1 ? '' : ` * ${factor.toFixed(PLACES).replace(/0+$/, '')}`;
  return new MathExpression({
    expression: `SUM([${ids.join(',')}])${times}`,
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`${id}${index}`, metric])),
    label,
    period,
  });
}
